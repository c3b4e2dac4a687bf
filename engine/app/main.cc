#include "engine/app/command.h"

int main(int argc, char** argv) { return advise::RunProgram(argc, argv); }
