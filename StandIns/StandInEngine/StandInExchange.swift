public import Foundation
public import LatchkeyCore
public import LatchkeyDevice
import LatchkeyFairPlay

/// The purpose of a key request.
public enum StandInPurpose: String, Sendable, Hashable {
    /// Playback now.
    case streaming
    /// Storage.
    case persistable
    /// Continued playback.
    case renewal
}

/// The device's part in one key request: it makes the SPCs and opens the answering license.
public final class StandInExchange: Sendable {
    private struct Attempt {
        let exchange: KeyExchange
        let madeAt: Duration
    }

    /// The purpose of the request.
    public let purpose: StandInPurpose
    /// The playback destination.
    public let destination: Destination
    private let identifier: String
    private let stage: StandInStage
    private let attempts = Locked<[Attempt]>([])

    /// A playback destination.
    public enum Destination: String, Sendable, Hashable {
        /// The device's own display.
        case device
        /// An AirPlay receiver. Keys for it cannot be stored.
        case airPlay
    }

    /// - Parameters:
    ///   - purpose: the purpose of the request.
    ///   - identifier: the key's identifier, to which a stored key is bound.
    ///   - destination: the playback destination.
    ///   - stage: the stage, which has the clock.
    public init(
        _ purpose: StandInPurpose, for identifier: String = "", destination: Destination = .device,
        on stage: StandInStage
    ) {
        self.purpose = purpose
        self.identifier = identifier
        self.destination = destination
        self.stage = stage
    }

    /// Whether an SPC was made.
    public var hasSPC: Bool { attempts.withLock { !$0.isEmpty } }

    /// Makes an SPC.
    /// - Parameters:
    ///   - certificate: the application certificate in DER form.
    ///   - contentIdentifier: 2 to 200 bytes.
    /// - Throws: an `NSError` in `NSOSStatusErrorDomain`: -42672 without a certificate, -42679 for a bad or foreign one,
    ///   -42673 without an identifier, -42675 for a bad one, -42676 for anything else.
    public func makeSPC(certificate: Data, contentIdentifier: Data?) throws -> Data {
        let device = try StandInHardware.device(certificate: certificate, on: stage)
        var options = SPCOptions()
        options.playbackState = purpose == .renewal ? .leaseExpiring : .readyToStart
        options.destination = destination == .airPlay ? .airPlay : .device
        if purpose == .persistable { options.capabilities?.insert(.offlineKey) }
        // Swift's own generator has size zero, so the thread sanitizer mistakes two of them for one.
        var generator = CryptographicGenerator()
        do {
            let exchange = try device.exchange(
                for: ContentIdentifier(bytes: contentIdentifier ?? Data()), options: options, using: &generator)
            attempts.withLock { $0.append(Attempt(exchange: exchange, madeAt: stage.timekeeper.uptime)) }
            return exchange.spc.revealed
        } catch {
            throw AppleError.status(error.systemNumber, error.reason)
        }
    }

    /// Opens the answer to a request.
    /// - Parameter answer: a CKC for the latest SPC; or a stored key, for a persistable request or one without an SPC.
    /// - Throws: a `Turndown` if the player would ask whether to retry; otherwise an `NSError`.
    public func open(_ answer: Data) throws -> StandInKey {
        if let cause = stage.takeRetry() { throw Turndown(cause: cause) }
        if purpose == .persistable || !hasSPC {
            return try openStored(answer)
        }
        let exchange = try answered(by: answer)
        do { return StandInKey(try exchange.open(answer, at: stage.timekeeper), on: stage) } catch {
            throw AppleError.status(error.systemNumber, "\(error.reason) \(error.remedy)")
        }
    }

    private func openStored(_ answer: Data) throws -> StandInKey {
        let bound = BoundKey(answer)
        let key: DeviceKey
        do { key = try stage.vault.open(bound?.sealed ?? answer) } catch {
            throw AppleError.status(error.systemNumber, "\(error.reason) \(error.remedy)")
        }
        guard let bound, bound.identifier == identifier else {
            throw AppleError.status(-42803, "The stored key was made for another key identifier.")
        }
        return StandInKey(key, stored: bound, on: stage)
    }

    /// Makes the data that an app stores from a license.
    /// - Parameter license: a CKC for the latest SPC.
    /// - Throws: an `NSError`, also if the license does not allow storage.
    public func storableKey(from license: Data) throws -> Data {
        let exchange: KeyExchange
        do { exchange = try answered(by: license) } catch let turndown as Turndown { throw turndown.error }
        do { return BoundKey(try stage.vault.persistableKey(from: license, of: exchange), for: identifier).bytes } catch
        {
            throw AppleError.status(error.systemNumber, "\(error.reason) \(error.remedy)")
        }
    }

    /// The latest exchange. Throws if the license is too late or answers an earlier one.
    private func answered(by license: Data) throws -> KeyExchange {
        guard let newest = attempts.withLock({ $0.last }) else {
            throw AppleError.status(-42676, "A license came for a request that made no SPC.")
        }
        guard stage.timekeeper.uptime - newest.madeAt < stage.behavior.lifetimeOfSPC else {
            throw Turndown(cause: .timedOut)
        }
        guard !answersEarlierAttempt(license) else { throw Turndown(cause: .obsolete) }
        return newest.exchange
    }

    private func answersEarlierAttempt(_ license: Data) -> Bool {
        attempts.withLock { $0.dropLast() }.contains {
            (try? $0.exchange.open(license, at: stage.timekeeper)) != nil
        }
    }
}

/// A license that a player rejects and may request again.
public struct Turndown: Error {
    /// The reason.
    public let cause: RetryCause

    /// The error that the player reports if it does not retry.
    public var error: NSError {
        switch cause {
        case .timedOut: AppleError.status(-42669, "The license came too late for its SPC.")
        case .expiredLease: AppleError.status(-42656, "The license's lease is over.")
        case .obsolete: AppleError.status(-42668, "The license answers an earlier SPC.")
        }
    }
}

/// A key in a player.
public struct StandInKey: Sendable {
    /// The key in the device.
    public private(set) var device: DeviceKey
    /// The stored form; `nil` for a key that came from a license.
    private var stored: BoundKey?
    private let stage: StandInStage

    init(_ device: DeviceKey, stored: BoundKey? = nil, on stage: StandInStage) {
        self.device = device
        self.stored = stored
        self.stage = stage
    }

    /// The key that decrypts the media.
    public var contentKey: ContentKey { device.contentKey }
    /// Whether the key decrypts now.
    public var isUsable: Bool { device.canDecrypt(at: stage.timekeeper) }

    /// Whether the key decrypts now, and its lease lasts that much longer.
    public func isUsable(for duration: Duration) -> Bool {
        guard isUsable, let lease = device.terms.lease else { return isUsable }
        return device.acceptedAt.uptime + lease - stage.timekeeper.uptime >= duration
    }

    /// Starts playback.
    /// - Returns: the key to store instead of the stored one; `nil` if that one stays valid.
    /// - Throws: an `NSError`: -42656 for an expired lease, -42800 for an expired stored key.
    public mutating func start() throws -> Data? {
        if let stored, device.startedAt == nil {
            let started: StartedKey
            do { started = try stage.vault.start(stored.sealed) } catch {
                throw AppleError.status(error.systemNumber, "\(error.reason) \(error.remedy)")
            }
            device = started.key
            guard let replacement = started.replacement.map({ BoundKey($0, for: stored.identifier) }) else {
                return nil
            }
            self.stored = replacement
            return replacement.bytes
        }
        guard device.start(at: stage.timekeeper) else {
            throw AppleError.status(stored == nil ? -42656 : -42800, "The key's time is over.")
        }
        return nil
    }
}
