public import Foundation
import LatchkeyCore

/// Loads playlists and media, from wherever the caller has them.
public protocol ResourceFetching: Sendable {
    /// Loads one resource or a part of it.
    /// - Parameters:
    ///   - address: an absolute URI, or the text that the caller gave for the first playlist.
    ///   - range: the bytes wanted, from 0; nil for all.
    ///   - limit: the most bytes that are of use; stop loading beyond it, with any error or with `limit + 1` bytes.
    /// - Throws: whatever the caller should see; it is passed on.
    func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource
}

/// A resource that was loaded.
public struct FetchedResource: Sendable {
    /// What was asked for.
    public let bytes: Data
    /// Its absolute URI after redirects, against which references in it are resolved.
    public let address: String

    /// - Parameters:
    ///   - bytes: what was asked for, and nothing around it.
    ///   - address: the absolute URI after redirects.
    public init(bytes: Data, address: String) {
        self.bytes = bytes
        self.address = address
    }
}

extension ResourceFetching {
    /// Loads what a playlist refers to, within a limit whether the implementation keeps it or not.
    ///
    /// A playlist from the network must not make us read a file: a reference keeps its playlist's scheme or is http(s).
    /// - Parameter base: the address of the playlist, after redirects; nil where it is not known.
    /// - Throws: `PlaybackError` `schemeNotAllowed`, `resourceTooLarge`; whatever the implementation throws.
    func resource(
        at address: String, from base: String?, range: Range<Int>? = nil, limit: Int
    ) async throws -> FetchedResource {
        let scheme = KeyURI(address).scheme?.lowercased()
        guard scheme == base.flatMap({ KeyURI($0).scheme })?.lowercased() || scheme == "http" || scheme == "https"
        else {
            throw PlaybackError.schemeNotAllowed(address)
        }
        let resource = try await resource(at: address, range: range, limit: limit)
        guard resource.bytes.count <= limit else { throw PlaybackError.resourceTooLarge(address, limit: limit) }
        return resource
    }
}

/// Loads resources from files: `file:` URLs and paths.
public struct FileResources: ResourceFetching {
    /// Makes one; it keeps nothing.
    public init() {}

    /// - Throws: `PlaybackError` `resourceMissing`, `resourceTooLarge`.
    public func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource {
        let url = address.hasPrefix("file:") ? URL(string: address) : URL(fileURLWithPath: address)
        guard let url, url.isFileURL, let file = try? FileHandle(forReadingFrom: url) else {
            throw PlaybackError.resourceMissing(address)
        }
        defer { try? file.close() }
        let count = min(range?.count ?? .max, limit < .max ? limit + 1 : .max)
        do {
            try file.seek(toOffset: UInt64(range?.lowerBound ?? 0))
            let bytes = try file.read(upToCount: count) ?? Data()
            guard bytes.count <= limit else { throw PlaybackError.resourceTooLarge(address, limit: limit) }
            return FetchedResource(bytes: bytes, address: url.absoluteString)
        } catch let error as PlaybackError {
            throw error
        } catch {
            throw PlaybackError.resourceMissing(address)
        }
    }
}
