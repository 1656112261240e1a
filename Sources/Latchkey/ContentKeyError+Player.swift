package import Foundation
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a player cannot do, or did not say.
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

    /// What the system gave instead of a key or of media; of its error only the name, as its text may hold an address.
    /// - Parameter nothing: what did not happen, as the beginning of a sentence.
    package static func downloadFailed(_ nothing: String, _ error: NSError) -> ContentKeyError {
        if error.domain == NSURLErrorDomain,
            let network = URLSessionTransport.translated(URLError(_nsError: error), hasBegun: true) as? TransportError
        {
            return ContentKeyError(network, stage: nil, underlying: error)
        }
        return ContentKeyError(.downloadFailed, "\(nothing) (\(error.domain) \(error.code)).", underlying: error)
    }
}
