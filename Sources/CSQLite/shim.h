#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast, which Swift does not import: SQLite copies the bytes before the call returns.

static inline int latchkey_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

static inline int latchkey_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    // A null pointer would bind NULL.
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Leaves the log beside the file when the last connection closes.
static inline int latchkey_sqlite_leave_log(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
