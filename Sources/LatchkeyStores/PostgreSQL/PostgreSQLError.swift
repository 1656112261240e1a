import LatchkeyCore
import LatchkeySystem

/// A failure by its SQLSTATE. PostgreSQL's and libpq's messages may quote values, addresses and passwords, so they are not repeated.
struct PostgreSQLFailure {
    /// Five characters; empty if the connection broke.
    let state: String

    /// - Parameter state: as PostgreSQL sent it.
    init(_ state: String) { self.state = state.utf8.count == 5 && state.utf8.allSatisfy(\.isOfState) ? state : "" }

    /// Whether an immediate retry of the statements may succeed: a deadlock, or conflicting transactions.
    var isCrossing: Bool { state == "40P01" || state == "40001" }

    /// Whether the connection is no longer usable: the server shuts down, or takes no changes any more although it has to.
    /// - Parameter takesReadOnly: whether a read-only server will do for the address.
    func endsConnection(takesReadOnly: Bool) -> Bool {
        state.isEmpty || (state == "25006" && !takesReadOnly) || state.hasPrefix("57P") || state.hasPrefix("08")
    }

    var error: StoreError {
        let (kind, words, remedy) = meaning
        return StoreError(
            kind, PostgreSQLStore.name, reason: state.isEmpty ? words : "\(words) (SQLSTATE \(state))", remedy: remedy)
    }

    private var meaning: (StoreError.Kind, String, String?) {
        switch state {
        case _ where state.isEmpty || state.hasPrefix("08"): (.unavailable, "The connection to PostgreSQL ended.", nil)
        case "42P01", "3F000", "42703", "42883":
            (.misconfigured, "The database lacks tables.", "Run `latchkey-server migrate` as their owner.")
        case "42501":
            (
                .misconfigured, "The role lacks a right.",
                "Grant it the rights listed in Documentation/Server/Stores.md."
            )
        case "3D000": (.misconfigured, "The database does not exist.", nil)
        case "25006":
            (
                .unavailable, "The database accepts no changes: it is a standby, or read-only.",
                "Check pg_is_in_recovery() and default_transaction_read_only; hosting services set the latter when a disk is nearly full."
            )
        case "26000", "42P05":
            (
                .misconfigured, "A pooler also gives this connection to other sessions.",
                "Configure the pooler to keep a connection for a session (PgBouncer: pool_mode = session), or connect to the database directly."
            )
        case "55P03":
            (
                .unavailable, "Another session holds a lock on the table.",
                "Find the session in pg_locks and pg_stat_activity, and end it if it hangs."
            )
        case "57014": (.unavailable, "The statement took longer than its limit.", nil)
        case "53100": (.full, "The server's disk is full.", nil)
        case _ where state.hasPrefix("28"): (.misconfigured, "PostgreSQL refuses the role or its password.", nil)
        // 54 is a value beyond a limit, such as one too long for an index.
        case _ where ["22", "23", "54"].contains(state.prefix(2)): (.unfit, "PostgreSQL refuses a value.", nil)
        case _ where state.hasPrefix("XX"): (.damaged, "PostgreSQL reports damaged data.", nil)
        case _ where state.hasPrefix("42"):
            (.misconfigured, "The database's tables do not match this server.", nil)
        case _ where state.hasPrefix("53"): (.unavailable, "PostgreSQL has no room for the connection.", nil)
        case _ where state.hasPrefix("57P"): (.unavailable, "PostgreSQL is starting or stopping.", nil)
        default: (.unavailable, "PostgreSQL did not run the statement.", nil)
        }
    }
}

extension UInt8 {
    fileprivate var isOfState: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
    }
}
