public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// The kind of a stream.
public enum SourceType: Int, Sendable {
    case none, hls, dash, progressive
}

/// A stream and the configuration of its keys.
public final class SourceConfig: NSObject {
    public let url: URL
    public let type: SourceType
    public var drmConfig: DrmConfig?

    public init(url: URL, type: SourceType) {
        self.url = url
        self.type = type
    }
}

/// A stream in a player.
public protocol Source: AnyObject, Sendable {
    var drm: any DrmApi { get }
    func add(listener: any SourceListener)
}

/// Operations on a source's keys.
public protocol DrmApi: Sendable {
    var fairplay: any FairplayApi { get }
}

/// Operations on a source's FairPlay keys.
public protocol FairplayApi: Sendable {
    func renewExpiringLicense(for contentKeyRequest: FairplayContentKeyRequest)
}

/// The request that a license answered.
public final class FairplayContentKeyRequest: NSObject, Sendable {
    public let skdUri: String

    init(_ uri: KeyURI) { skdUri = uri.raw }
}

/// A license has arrived.
public final class FairplayLicenseAcquiredEvent: NSObject, Sendable {
    public let contentKeyRequest: FairplayContentKeyRequest

    init(_ request: FairplayContentKeyRequest) { contentKeyRequest = request }
}

/// A source has failed.
public final class SourceErrorEvent: NSObject, Sendable {
    /// The code; 2301 to 2309 for keys.
    public let code: Int
    public let message: String

    init(_ error: NSError) {
        code = error.code
        message = error.localizedDescription
    }
}

/// Receives the events of a source. Every method is optional.
public protocol SourceListener: NSObjectProtocol {
    func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source)
    func onSourceError(_ event: SourceErrorEvent, source: any Source)
}

extension SourceListener {
    public func onFairplayLicenseAcquired(_ event: FairplayLicenseAcquiredEvent, source: any Source) {
        CallbackProbe.noteDefault()
    }

    public func onSourceError(_ event: SourceErrorEvent, source: any Source) { CallbackProbe.noteDefault() }
}

/// Makes sources.
public enum SourceFactory {
    public static func create(from sourceConfig: SourceConfig) -> any Source { SimulatedSource(sourceConfig) }
}
