import LatchkeyCore

/// The code of the error that a call throws, or `nil`.
func errorCode(_ body: () throws -> some Any) -> String? {
    do { _ = try body() } catch { return (error as? any DiagnosableError)?.code ?? "\(error)" }
    return nil
}

/// The code of the error that an asynchronous call throws, or `nil`.
func errorCode(_ body: () async throws -> some Any) async -> String? {
    do { _ = try await body() } catch { return (error as? any DiagnosableError)?.code ?? "\(error)" }
    return nil
}
