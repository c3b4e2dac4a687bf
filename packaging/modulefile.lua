-- Lmod: `module use FOLDER/share/advise/modulefiles`, then `module load advise`. The folder may be anywhere: the program and
-- its pages stand four folders above this file.
local here = myFileName()
local root = here:match("^(.*)/share/advise/modulefiles/advise/[^/]*$") or pathJoin(here:match("^(.*)/[^/]*$"), "../../../..")

whatis("Name: advise")
whatis("Version: " .. myModuleVersion())
whatis("Description: reads traces of GPU programs and says what to fix first")
help([[advise run.sqlite     diagnoses an export of Nsight Systems, or a trace of PyTorch's profiler
man advise            all commands and options]])

local function is_set(variable)
  return (os.getenv(variable) or "") ~= ""
end

prepend_path("PATH", pathJoin(root, "bin"))
-- Without MANPATH man looks beside each folder of PATH. With it, it would find the pages of the system no more.
if is_set("MANPATH") then prepend_path("MANPATH", pathJoin(root, "share/man")) end
-- Completions of bash and fish. What an unset variable stands for must stay.
if not is_set("XDG_DATA_DIRS") then append_path("XDG_DATA_DIRS", "/usr/local/share:/usr/share") end
prepend_path("XDG_DATA_DIRS", pathJoin(root, "share"))
-- Those of zsh, which keeps the folders of its functions to itself: a variable from here would take their place.
if myShellName() == "zsh" then
  local folder = pathJoin(root, "share/zsh/site-functions")
  execute({
    cmd = "fpath=('" .. folder .. "' $fpath); autoload -Uz _advise; (( ! $+functions[compdef] )) || compdef _advise advise",
    modeA = { "load" },
  })
  execute({ cmd = "fpath=(${fpath:#'" .. folder .. "'})", modeA = { "unload" } })
end
