package import Foundation
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Errors of a player that lacks an ability or information.
extension ContentKeyError {
    package static let unsupported = ContentKeyError(
        .playerUnsupported, "The simulator has no FairPlay.")

    package static let keyUnnamed = ContentKeyError(
        .keyUnnamed, "The player asked for a key without naming it.")

    package static let notPersistable = ContentKeyError(
        .keyNotStorable, stage: .spc, "The system cannot store the key now.")

    package static let notStored = ContentKeyError(
        .downloadFailed, stage: .answer, "The keys came, and were not stored.",
        remedy: "Look at the loader's events for storeFailed.")

    package static let nowhere = ContentKeyError(
        .downloadFailed, "The download ended without telling where the media is.")

    /// The system's error in place of a key or of media; of the error only the name, as its text may hold an address.
    /// - Parameter nothing: the result that is missing, as the beginning of a sentence.
    package static func downloadFailed(_ nothing: String, _ error: NSError) -> ContentKeyError {
        if error.domain == NSURLErrorDomain,
            let network = URLSessionTransport.translated(URLError(_nsError: error), hasBegun: true) as? TransportError
        {
            return ContentKeyError(network, stage: nil, underlying: error)
        }
        return ContentKeyError(.downloadFailed, "\(nothing) (\(error.domain) \(error.code)).", underlying: error)
    }
}
