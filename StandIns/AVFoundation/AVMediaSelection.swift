public import Foundation
import LatchkeyCore
import StandInEngine

/// A choice of an asset's audio and subtitles.
open class AVMediaSelection: NSObject {
    fileprivate var options: [ObjectIdentifier: AVMediaSelectionOption?] = [:]

    public func selectedMediaOption(in mediaSelectionGroup: AVMediaSelectionGroup) -> AVMediaSelectionOption? {
        options[ObjectIdentifier(mediaSelectionGroup)] ?? nil
    }

    open override func mutableCopy() -> Any {
        let copy = AVMutableMediaSelection()
        copy.options = options
        return copy
    }
}

/// A choice that can be changed.
open class AVMutableMediaSelection: AVMediaSelection {
    public func select(
        _ mediaSelectionOption: AVMediaSelectionOption?, in mediaSelectionGroup: AVMediaSelectionGroup
    ) { options[ObjectIdentifier(mediaSelectionGroup)] = .some(mediaSelectionOption) }
}

/// Renditions that are alternatives to each other.
open class AVMediaSelectionGroup: NSObject {
    public let options: [AVMediaSelectionOption]

    init(_ options: [AVMediaSelectionOption]) { self.options = options }
}

/// A rendition.
open class AVMediaSelectionOption: NSObject {
    public let displayName: String
    public let extendedLanguageTag: String?

    init(_ name: String, _ language: String?) {
        displayName = name
        extendedLanguageTag = language
    }
}

/// The purpose of a rendition.
public struct AVMediaCharacteristic: RawRepresentable, Hashable, Sendable {
    public typealias RawValue = String

    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let audible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
    public static let legible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
}

/// The variants of an asset to download.
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 10.0, visionOS 1.0, *)
open class AVAssetVariantQualifier: NSObject, @unchecked Sendable {
    private let predicate: NSPredicate

    public init(predicate: NSPredicate) { self.predicate = predicate }

    public class func predicate(
        forPresentationHeight height: CGFloat, operatorType: PredicateOperator
    ) -> NSPredicate {
        NSPredicate { other, _ in operatorType.holds(other as? CGFloat ?? 0, height) }
    }

    /// Foundation's `NSComparisonPredicate.Operator`, which is deprecated on Linux.
    public enum PredicateOperator: Sendable {
        case lessThan, lessThanOrEqualTo, greaterThan, greaterThanOrEqualTo, equalTo, notEqualTo

        func holds(_ left: CGFloat, _ right: CGFloat) -> Bool {
            switch self {
            case .lessThan: left < right
            case .lessThanOrEqualTo: left <= right
            case .greaterThan: left > right
            case .greaterThanOrEqualTo: left >= right
            case .equalTo: left == right
            case .notEqualTo: left != right
            }
        }
    }

    /// Whether a variant of this height is chosen. Not in Apple's SDK.
    public func standInAdmits(height: CGFloat) -> Bool { predicate.evaluate(with: height) }
}

/// A property of an asset that is loaded on request.
public class AVPartialAsyncProperty<Root>: @unchecked Sendable {}

/// A property of an asset, with the type of its value.
public class AVAsyncProperty<Root, Value>: AVPartialAsyncProperty<Root>, @unchecked Sendable {}

extension AVPartialAsyncProperty where Root: AVAsset {
    public static var preferredMediaSelection: AVAsyncProperty<Root, AVMediaSelection> { AVAsyncProperty() }
}

/// An object with properties that are loaded on request.
public protocol AVAsynchronousKeyValueLoading {}

extension AVAsset: AVAsynchronousKeyValueLoading {}

extension AVAsynchronousKeyValueLoading where Self: AVAsset {
    public func load(
        _ property: AVAsyncProperty<Self, AVMediaSelection>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> sending AVMediaSelection { AVMediaSelection() }
}

extension AVURLAsset {
    /// The renditions that the playlist names; `nil` without any.
    @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public func loadMediaSelectionGroup(
        for mediaCharacteristic: AVMediaCharacteristic
    ) async throws -> sending AVMediaSelectionGroup? {
        let type = mediaCharacteristic == .audible ? "AUDIO" : "SUBTITLES"
        let renditions = try await StandInRendition.list(at: url.absoluteString, type: type, on: stage)
        return renditions.isEmpty
            ? nil : AVMediaSelectionGroup(renditions.map { AVMediaSelectionOption($0.name, $0.language) })
    }
}

// The options of an asset's requests.
public let AVURLAssetHTTPCookiesKey = "AVURLAssetHTTPCookiesKey"
public let AVURLAssetAllowsCellularAccessKey = "AVURLAssetAllowsCellularAccessKey"
