public import Foundation
import LatchkeyCore

/// Loads playlists and media from anywhere.
public protocol ResourceFetching: Sendable {
    /// Loads a resource or a part of it.
    /// - Parameters:
    ///   - address: an absolute URI, or the text that the caller gave for the first playlist.
    ///   - range: the requested bytes, counted from 0; `nil` for all.
    ///   - limit: the maximum number of useful bytes. Stop loading beyond it, and either throw an error or return `limit + 1`
    ///     bytes.
    /// - Throws: any error. It is passed on.
    func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource
}

/// A loaded resource.
public struct FetchedResource: Sendable {
    /// The requested bytes.
    public let bytes: Data
    /// The absolute URI after redirects. References in the resource are resolved against it.
    public let address: String

    /// - Parameters:
    ///   - bytes: the requested bytes, and no others.
    ///   - address: the absolute URI after redirects.
    public init(bytes: Data, address: String) {
        self.bytes = bytes
        self.address = address
    }
}

extension ResourceFetching {
    /// Loads a resource that a playlist refers to. Enforces the limit even if the implementation does not.
    ///
    /// A reference must have the scheme of its playlist, or be http(s), because a playlist from the network must not make us read a file.
    /// - Parameter base: the address of the playlist, after redirects; `nil` if unknown.
    /// - Throws: `Diagnosis` `schemeNotAllowed`, `resourceTooLarge`; any error of the implementation.
    func resource(
        at address: String, from base: String?, range: Range<Int>? = nil, limit: Int
    ) async throws -> FetchedResource {
        let scheme = KeyURI(address).scheme?.lowercased()
        guard scheme == base.flatMap({ KeyURI($0).scheme })?.lowercased() || scheme == "http" || scheme == "https"
        else {
            throw Diagnosis.schemeNotAllowed(address)
        }
        let resource = try await resource(at: address, range: range, limit: limit)
        guard resource.bytes.count <= limit else { throw Diagnosis.resourceTooLarge(address, limit: limit) }
        return resource
    }
}

/// Loads resources from files: `file:` URLs and paths.
public struct FileResources: ResourceFetching {
    /// Creates a stateless loader.
    public init() {}

    /// - Throws: `Diagnosis` `resourceMissing`, `resourceTooLarge`.
    public func resource(at address: String, range: Range<Int>?, limit: Int) async throws -> FetchedResource {
        let url = address.hasPrefix("file:") ? URL(string: address) : URL(fileURLWithPath: address)
        guard let url, url.isFileURL, let file = try? FileHandle(forReadingFrom: url) else {
            throw Diagnosis.resourceMissing(address)
        }
        defer { try? file.close() }
        let count = min(range?.count ?? .max, limit < .max ? limit + 1 : .max)
        do {
            try file.seek(toOffset: UInt64(clamping: range?.lowerBound ?? 0))
            let bytes = try file.read(upToCount: count) ?? Data()
            guard bytes.count <= limit else { throw Diagnosis.resourceTooLarge(address, limit: limit) }
            return FetchedResource(bytes: bytes, address: url.absoluteString)
        } catch let error as Diagnosis {
            throw error
        } catch {
            throw Diagnosis.resourceMissing(address)
        }
    }
}
