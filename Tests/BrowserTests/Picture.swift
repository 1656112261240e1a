import Foundation
import LatchkeyMedia
import LatchkeySystem
import LatchkeyTesting

/// A picture as its pixels.
struct Picture: Sendable {
    /// Three bytes for each pixel: red, green, blue.
    let pixels: [UInt8]
    /// How many pixels a row has.
    let width: Int

    /// Decodes a PNG.
    init(png: Data, in folder: TemporaryFolder) async throws {
        let file = folder.file("\(UUID().uuidString).png")
        try png.write(to: file)
        // Behind the signature, and the first chunk's length and name.
        let width = png.dropFirst(16).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        self = try await Self.decoded(["-i", file.path], width: width, in: folder)
    }

    /// One frame of the demo streams' picture, whose key is known here. A segment at a time, as ffmpeg 5.1 decrypts no more than one.
    static func reference(frame: Int, in folder: TemporaryFolder) async throws -> Picture {
        let framesPerSegment = 50
        let track = try DemoAsset.located().appending(path: "two-keys/v")
        let file = folder.file("\(UUID().uuidString).mp4")
        let parts = try ["init.mp4", "\(frame / framesPerSegment + 1).m4s"].map { name in
            try Data(contentsOf: track.appending(path: name))
        }
        try Data(parts.joined()).write(to: file)
        return try await decoded(
            [
                "-decryption_key", "00112233445566778899aabbccddeeff", "-i", file.path, "-vf",
                // The stream states no matrix, and Chromium takes that of high definition.
                "select=eq(n\\,\(frame % framesPerSegment)),scale=in_color_matrix=bt709", "-frames:v", "1",
            ], width: 320, in: folder)
    }

    private init(pixels: [UInt8], width: Int) { (self.pixels, self.width) = (pixels, width) }

    private static func decoded(
        _ input: [String], width: Int, in folder: TemporaryFolder
    ) async throws -> Picture {
        let output = folder.file("\(UUID().uuidString).rgb")
        let process = Subprocess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin"] + input + ["-f", "rawvideo", "-pix_fmt", "rgb24", output.path]
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Picture(pixels: [UInt8](try Data(contentsOf: output)), width: width)
    }

    /// By how much the channels differ in the middle; infinite for pictures of different sizes.
    func difference(from other: Picture) -> Double {
        guard pixels.count == other.pixels.count, !pixels.isEmpty else { return .infinity }
        let sum = zip(pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(pixels.count)
    }

    /// The color at a place, each coordinate from 0 to 1; empty outside.
    func color(_ x: Double, _ y: Double) -> [UInt8] {
        let height = pixels.count / 3 / max(width, 1)
        let index = (Int(y * Double(height)) * width + Int(x * Double(width))) * 3
        return pixels.indices.contains(index + 2) ? Array(pixels[index..<index + 3]) : []
    }

    /// The first pixel, at the top left.
    var corner: [UInt8] { Array(pixels.prefix(3)) }
}
