// How much of the machine this process may use.
#pragma once

namespace advise {

// Processors, at least one: those that it may run on (affinity, as batch systems set it), and no
// more than its control groups grant time on (containers).
int UsableCores();

// Parallel jobs where nobody says how many: the processors, at most 16.
int DefaultJobs();

}  // namespace advise
