#include "samples/simcard/cli/run_command.h"

int main(int argc, char** argv) { return dmprof::simcard::run_command(argc, argv); }
