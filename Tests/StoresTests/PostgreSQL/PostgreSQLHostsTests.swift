import LatchkeyCore
import Testing

@testable import LatchkeyStores

@Suite(.timeLimit(.minutes(1))) struct PostgreSQLHostsTests {
    /// If a standby will do, a refused write does not end the connection, on which others read.
    @Test(
        arguments: [
            ("", false), ("?target_session_attrs=read-write", false), ("?target_session_attrs=primary", false),
            ("?target_session_attrs=any", true), ("?target_session_attrs=prefer-standby", true),
        ])
    func `an address says whether a read-only server is acceptable`(_ rest: String, _ takesReadOnly: Bool) throws {
        let hosts = try PostgreSQLHosts(Secret("postgresql://a@127.0.0.1/b\(rest)"))
        #expect(hosts.takesReadOnly == takesReadOnly)
        // Readers accept any server, unless the address says which.
        let readers = hosts.forReaders
        #expect((readers == nil) == rest.contains("target_session_attrs"))
        #expect(readers?.takesReadOnly ?? true)
        #expect(readers?.parameters.allSatisfy { $0["target_session_attrs"]?.revealedText == "any" } ?? true)
        #expect(PostgreSQLFailure("25006").endsConnection(takesReadOnly: takesReadOnly) != takesReadOnly)
        #expect(PostgreSQLFailure("57P01").endsConnection(takesReadOnly: takesReadOnly))
    }
}
