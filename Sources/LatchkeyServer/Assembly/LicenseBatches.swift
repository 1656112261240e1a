import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing

/// Whether this process opens several licenses together, and with which library.
struct LicenseBatches: Sendable {
    /// Opens them; `nil` where each is opened alone.
    let opening: LicenseIssuer.Opening?
    /// Why the library that the configuration names cannot be used, which is a fault.
    private(set) var problem: LicenseeError?
    /// The log's notice at the start; `nil` for none.
    let word: String?

    /// Loads the library, if there is one. Blocks as long as its files do.
    init(_ setting: ServerSettings.CryptoMB, in secrets: SecretPlaces, _ metrics: ServerMetrics, _ log: ServerLog) {
        do throws(LicenseeError) {
            let library: CryptoMBLibrary
            switch setting {
            case .off:
                (opening, word) = (nil, nil)
                return
            case .auto: library = try CryptoMBLibrary()
            case .path(let path): library = try CryptoMBLibrary(path: secrets.path(path))
            }
            let batch = RSABatch(library.function, check: library.check) { Self.note($0, metrics, log) }
            opening = BatchedWork(least: 3, most: RSABatch.lanes) { KeyServerModule.open($0, by: batch) }
            word = "crypto_mb opens up to \(RSABatch.lanes) licenses together: \(library.path)."
        } catch {
            opening = nil
            word = "Licenses are opened one at a time, without crypto_mb. \(error.reason)"
            if setting != .auto { problem = error }
        }
    }

    private static func note(_ outcome: RSABatch.Outcome, _ metrics: ServerMetrics, _ log: ServerLog) {
        metrics.rsaBatches.add()
        metrics.rsaBatchOperations.add(UInt64(outcome.operations))
        guard outcome.wrong > 0 else { return }
        metrics.rsaBatchErrors.add(UInt64(outcome.wrong))
        log.write(
            LogEntry(
                .error, .configuration,
                message:
                    "crypto_mb computed \(outcome.wrong) of \(outcome.operations) results wrong. OpenSSL computed them "
                    + "again, and no viewer was affected. If it happens again, set \"cryptoMB\" to \"off\", and have the machine tested."
            ))
    }
}
