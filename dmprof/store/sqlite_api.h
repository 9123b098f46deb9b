// The SQLite interface, for code that lives both in this library and in the loadable extension: the extension calls the
// SQLite of the program that loaded it, through a table of functions, and must not bring its own.
#pragma once

#ifdef DMPROF_SQLITE_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif
