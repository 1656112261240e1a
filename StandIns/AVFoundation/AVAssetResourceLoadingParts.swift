public import Foundation
import LatchkeyCore
import StandInEngine

/// The origin of a loading request.
open class AVAssetResourceLoadingRequestor: NSObject {
    public var providesExpiredSessionReports: Bool { false }
}

/// An app's statements about a resource.
open class AVAssetResourceLoadingContentInformationRequest: NSObject {
    private struct State {
        var contentType: String?
        var contentLength: Int64 = 0
        var isByteRangeAccessSupported = false
        var renewalDate: Date?
        var isEntireLengthAvailableOnDemand = false
    }

    private let stage: StandInStage
    private let state = Locked(State())

    init(_ stage: StandInStage) { self.stage = stage }

    public var allowedContentTypes: [String]? {
        [AVStreamingKeyDeliveryContentKeyType, AVStreamingKeyDeliveryPersistentContentKeyType]
    }
    public var contentType: String? {
        get { state.withLock { $0.contentType } }
        set { state.withLock { $0.contentType = newValue } }
    }
    public var contentLength: Int64 {
        get { state.withLock { $0.contentLength } }
        set { state.withLock { $0.contentLength = newValue } }
    }
    public var isByteRangeAccessSupported: Bool {
        get { state.withLock { $0.isByteRangeAccessSupported } }
        set { state.withLock { $0.isByteRangeAccessSupported = newValue } }
    }
    /// When to request the key again. Only used together with a content type for keys.
    public var renewalDate: Date? {
        get { state.withLock { $0.renewalDate } }
        set { state.withLock { $0.renewalDate = newValue } }
    }
    public var isEntireLengthAvailableOnDemand: Bool {
        get { state.withLock { $0.isEntireLengthAvailableOnDemand } }
        set { state.withLock { $0.isEntireLengthAvailableOnDemand = newValue } }
    }

    func checkType(for uri: KeyURI) {
        guard let contentType, allowedContentTypes?.contains(contentType) == false else { return }
        stage.log.note(.wrongContentType, "\(contentType) for \(uri.raw)")
    }

    /// The renewal date, if the content type permits one.
    var effectiveRenewalDate: Date? {
        contentType.map { allowedContentTypes?.contains($0) == true } == true ? renewalDate : nil
    }
}

/// The data that an app must provide; for a key, all of it.
open class AVAssetResourceLoadingDataRequest: NSObject {
    private let received = Locked(Data())

    public var requestedOffset: Int64 { 0 }
    public var requestedLength: Int { .max }
    public var requestsAllDataToEndOfResource: Bool { true }
    public var currentOffset: Int64 { Int64(data.count) }
    public func respond(with data: Data) { received.withLock { $0.append(data) } }

    var data: Data { received.withLock { $0 } }
}
