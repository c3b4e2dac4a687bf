-- Lmod: `module use FOLDER/share/advise/modulefiles`, then `module load advise`. The folder may be anywhere: the program and
-- its pages stand four folders above this file.
local root = pathJoin(myFileName():match("^(.*)/[^/]*$"), "../../../..")

whatis("Name: advise")
whatis("Version: " .. myModuleVersion())
whatis("Description: reads traces of GPU programs and says what to fix first")
help([[advise run.sqlite     diagnoses an export of Nsight Systems, or a trace of PyTorch's profiler
man advise            all commands and options]])

prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("XDG_DATA_DIRS", pathJoin(root, "share")) -- completions of bash and fish
prepend_path("FPATH", pathJoin(root, "share/zsh/site-functions"))
