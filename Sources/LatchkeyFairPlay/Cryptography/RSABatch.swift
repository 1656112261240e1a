internal import COpenSSL
package import LatchkeyCore

/// Runs up to eight RSA private operations in parallel, each with its own key, through a function such as that of Intel's crypto_mb.
///
/// Every result is verified with the public operation, eight in parallel, before use. A result that is wrong, or whose padding is wrong,
/// is recomputed by libcrypto alone. Safe for concurrent use from any number of threads.
///
/// Source: `Documentation/Server/Speed.md` §3.
package final class RSABatch: Sendable {
    /// `mbx_rsa_private_crt_mb8`: texts, results, p, q, d mod p − 1, d mod q − 1, q⁻¹ mod p, the bits of the modulus, and two arguments
    /// that stay `nil`. Each array has eight pointers. Texts and results are big-endian, numbers little-endian words.
    /// - Returns: four bits per lane, the first lane lowest; 0 means success.
    package typealias Function =
        @convention(c) (
            UnsafePointer<UnsafePointer<UInt8>?>?, UnsafePointer<UnsafeMutablePointer<UInt8>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, UnsafePointer<UnsafePointer<UInt64>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, UnsafePointer<UnsafePointer<UInt64>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, Int32, UnsafeRawPointer?, UnsafeMutablePointer<UInt8>?
        ) -> UInt32

    /// `mbx_rsa_public_mb8`, for the public exponent 65,537: texts, results, moduli, the bits of the modulus, and two arguments that stay
    /// `nil`. The same forms.
    package typealias PublicFunction =
        @convention(c) (
            UnsafePointer<UnsafePointer<UInt8>?>?, UnsafePointer<UnsafeMutablePointer<UInt8>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, Int32, UnsafeRawPointer?, UnsafeMutablePointer<UInt8>?
        ) -> UInt32

    /// The result of one call.
    package struct Outcome: Sendable, Hashable {
        /// The number of lanes used, at least 2.
        package let operations: Int
        /// The number of wrong results, which were recomputed.
        package let wrong: Int
    }

    /// A ciphertext and the key that decrypts it.
    package struct Operation: Sendable {
        package let key: RSAPrivateKey
        package let text: ArraySlice<UInt8>

        package init(key: RSAPrivateKey, text: ArraySlice<UInt8>) {
            (self.key, self.text) = (key, text)
        }
    }

    /// The number of operations in a call.
    package static let lanes = 8

    private let function: Function
    private let check: PublicFunction
    private let observe: @Sendable (Outcome) -> Void

    /// - Parameters:
    ///   - function: does eight operations.
    ///   - check: does eight public operations, which verify results.
    ///   - observe: receives the outcome of each call. Ignored by default.
    package init(
        _ function: @escaping Function, check: @escaping PublicFunction,
        observe: @escaping @Sendable (Outcome) -> Void = { _ in }
    ) {
        (self.function, self.check, self.observe) = (function, check, observe)
    }

    /// Decrypts as `RSAPrivateKey.decryptOAEP(_:)` does, in parallel where that is faster.
    /// - Returns: the plaintexts in the order of the operations; `nil` where decryption failed.
    package func decryptOAEP(_ operations: [Operation]) -> [Secret?] {
        var results = [Secret?](repeating: nil, count: operations.count)
        var lanes: [Int: [Lane]] = [:]
        for (place, operation) in operations.enumerated() {
            if let key = operation.key.forLane, key.fits(operation.text) {
                lanes[key.size, default: []].append(Lane(place: place, operation: operation, key: key))
            } else {
                results[place] = operation.alone()
            }
        }
        for (size, lanes) in lanes {
            for start in stride(from: 0, to: lanes.count, by: Self.lanes) {
                let lanes = lanes[start..<min(start + Self.lanes, lanes.count)]
                if lanes.count >= Self.least(size: size) {
                    decrypt(Array(lanes), size: size, &results)
                } else {
                    for lane in lanes { results[lane.place] = lane.operation.alone() }
                }
            }
        }
        return results
    }

    /// The smallest number of operations for which a call is faster than libcrypto, as measured.
    private static func least(size: Int) -> Int { size <= 128 ? 2 : 3 }

    private struct Lane {
        let place: Int
        let operation: Operation
        let key: RSALaneKey
    }

    private func decrypt(_ lanes: [Lane], size: Int, _ results: inout [Secret?]) {
        let room = LaneRoom(size: size)
        for lane in 0..<Self.lanes {
            // Unused lanes repeat one operation; their results are ignored.
            let one = lanes[lane < lanes.count ? lane : 0]
            room.fill(lane, text: one.operation.text, one.key)
        }
        let status = room.call(function) | room.check(check)
        var wrong = 0
        for (number, lane) in lanes.enumerated() {
            let isRight = status >> (4 * UInt32(number)) & 0xf == 0 && room.isRight(number)
            let message = isRight ? room.message(number) : nil
            results[lane.place] = message ?? lane.operation.alone()
            // A text that libcrypto cannot decrypt either has no message.
            if !isRight || message == nil && results[lane.place] != nil { wrong += 1 }
        }
        observe(Outcome(operations: lanes.count, wrong: wrong))
    }
}

extension RSABatch.Operation {
    fileprivate func alone() -> Secret? { key.decryptOAEP(text) }
}

/// The input and output of a call, in memory that is erased afterwards: a text, a result, the text that the public operation makes of the
/// result, and the key's numbers per lane.
private struct LaneRoom {
    private let size: Int
    private let length: Int
    private let bytes: ErasedBytes

    init(size: Int) {
        self.size = size
        length = 3 * size + RSALaneKey.halves * size / 2
        bytes = ErasedBytes(count: RSABatch.lanes * length)
    }

    func fill(_ lane: Int, text: ArraySlice<UInt8>, _ key: RSALaneKey) {
        let start = lane * length
        bytes.write(start..<start + size) { $0.copyBytes(from: text) }
        key.numbers.read(0..<key.numbers.count) { numbers in
            bytes.write(start + 3 * size..<start + length) { $0.copyMemory(from: numbers) }
        }
    }

    func call(_ function: RSABatch.Function) -> UInt32 {
        withLanes { texts, results, _, number in
            function(
                texts.map { UnsafePointer($0) }, results, number(0), number(1), number(2), number(3), number(4),
                Int32(size * 8), nil, nil)
        }
    }

    /// Makes texts of the results again.
    func check(_ function: RSABatch.PublicFunction) -> UInt32 {
        withLanes { _, results, again, number in
            function(results.map { UnsafePointer($0) }, again, number(5), Int32(size * 8), nil, nil)
        }
    }

    private typealias Bytes = [UnsafeMutablePointer<UInt8>?]

    /// - Parameter body: gets the addresses of texts, results, texts again, and of the numbers at a place of `RSALaneKey.names`.
    private func withLanes(
        _ body: (Bytes, Bytes, Bytes, (Int) -> [UnsafePointer<UInt64>?]) -> UInt32
    ) -> UInt32 {
        bytes.write(0..<bytes.count) { bytes in
            guard let base = bytes.baseAddress else { return .max }
            let starts = (0..<RSABatch.lanes).map { base + $0 * length }
            let part = { (place: Int) in
                starts.map { UnsafeMutablePointer?(($0 + place * size).assumingMemoryBound(to: UInt8.self)) }
            }
            return body(part(0), part(1), part(2)) { place in
                starts.map { UnsafePointer(($0 + 3 * size + place * size / 2).assumingMemoryBound(to: UInt64.self)) }
            }
        }
    }

    /// Whether the public operation on a lane's result gives the text again. A wrong result would reveal the key's primes.
    func isRight(_ lane: Int) -> Bool {
        let start = lane * length
        return bytes.read(start..<start + 3 * size) { bytes in bytes[..<size].elementsEqual(bytes[(2 * size)...]) }
    }

    /// A lane's result without its padding; `nil` if the padding is wrong.
    func message(_ lane: Int) -> Secret? {
        let plain = ErasedBytes(count: size)
        let start = lane * length + size
        let count = bytes.read(start..<start + size) { result in
            plain.write(0..<size) { plain in
                latchkey_oaep_sha1_remove(
                    result.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(size),
                    plain.assumingMemoryBound(to: UInt8.self).baseAddress)
            }
        }
        guard count >= 0, count <= size else {
            OpenSSLError.discardQueue()
            return nil
        }
        return plain.read(0..<Int(count)) { Secret($0) }
    }
}
