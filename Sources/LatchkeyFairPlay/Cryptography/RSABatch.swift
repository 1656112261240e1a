internal import COpenSSL
package import LatchkeyCore

/// Up to eight private operations of RSA side by side, each with a key of its own, by a function such as that of Intel's crypto_mb.
///
/// No result is used before the public operation has given its text again; one that is wrong is computed again by libcrypto alone.
/// Any number of threads can use one.
///
/// Source: `Documentation/Server/Speed.md` §3.
package final class RSABatch: Sendable {
    /// `mbx_rsa_private_crt_mb8`: texts, results, p, q, d mod p − 1, d mod q − 1, q⁻¹ mod p, the bits of the modulus, and two that
    /// stay `nil`. Each is an array of eight pointers. Texts and results are big-endian, numbers little-endian words.
    /// - Returns: four bits a lane, the first one lowest; 0 where it was done.
    package typealias Function =
        @convention(c) (
            UnsafePointer<UnsafePointer<UInt8>?>?, UnsafePointer<UnsafeMutablePointer<UInt8>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, UnsafePointer<UnsafePointer<UInt64>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, UnsafePointer<UnsafePointer<UInt64>?>?,
            UnsafePointer<UnsafePointer<UInt64>?>?, Int32, UnsafeRawPointer?, UnsafeMutablePointer<UInt8>?
        ) -> UInt32

    /// What one call did.
    package struct Outcome: Sendable, Hashable {
        /// How many of its lanes were used, at least 2.
        package let operations: Int
        /// How many of them were wrong, and done again.
        package let wrong: Int
    }

    /// A text, and the key that opens it.
    package struct Operation: Sendable {
        package let key: RSAPrivateKey
        package let text: ArraySlice<UInt8>

        package init(key: RSAPrivateKey, text: ArraySlice<UInt8>) {
            (self.key, self.text) = (key, text)
        }
    }

    /// How many operations a call does.
    package static let lanes = 8

    private let function: Function
    private let observe: @Sendable (Outcome) -> Void

    /// - Parameters:
    ///   - function: does eight operations.
    ///   - observe: is told what each call did. Defaults to nobody.
    package init(_ function: @escaping Function, observe: @escaping @Sendable (Outcome) -> Void = { _ in }) {
        (self.function, self.observe) = (function, observe)
    }

    /// Decrypts as `RSAPrivateKey.decryptOAEP(_:)` does, several at once where that is quicker.
    /// - Returns: the plaintexts in the order of the operations; `nil` for whatever a key does not open.
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

    /// From how many operations on a call takes less time than libcrypto, as measured.
    private static func least(size: Int) -> Int { size <= 128 ? 2 : 3 }

    private struct Lane {
        let place: Int
        let operation: Operation
        let key: RSALaneKey
    }

    private func decrypt(_ lanes: [Lane], size: Int, _ results: inout [Secret?]) {
        let room = LaneRoom(size: size)
        for lane in 0..<Self.lanes {
            // Lanes that nobody uses repeat one, into room that nobody reads.
            let one = lanes[lane < lanes.count ? lane : 0]
            room.fill(lane, text: one.operation.text, one.key)
        }
        let status = room.call(function)
        var wrong = 0
        for (number, lane) in lanes.enumerated() {
            let isDone = status >> (4 * UInt32(number)) & 0xf == 0
            if isDone, case .right(let message) = room.read(number, lane.key, for: lane.operation.text) {
                results[lane.place] = message
            } else {
                wrong += 1
                results[lane.place] = lane.operation.alone()
            }
        }
        observe(Outcome(operations: lanes.count, wrong: wrong))
    }
}

extension RSABatch.Operation {
    fileprivate func alone() -> Secret? { key.decryptOAEP(text) }
}

/// What a call reads and writes, in memory that is erased after it: per lane a text, a result and the key's numbers.
private struct LaneRoom {
    enum Reading {
        case wrong
        /// `nil` for a padding that is wrong.
        case right(Secret?)
    }

    private let size: Int
    private let length: Int
    private let bytes: ErasedBytes

    init(size: Int) {
        self.size = size
        length = 2 * size + RSALaneKey.names.count * size / 2
        bytes = ErasedBytes(count: RSABatch.lanes * length)
    }

    func fill(_ lane: Int, text: ArraySlice<UInt8>, _ key: RSALaneKey) {
        let start = lane * length
        bytes.write(start..<start + size) { $0.copyBytes(from: text) }
        key.numbers.read(0..<key.numbers.count) { numbers in
            bytes.write(start + 2 * size..<start + length) { $0.copyMemory(from: numbers) }
        }
    }

    func call(_ function: RSABatch.Function) -> UInt32 {
        bytes.write(0..<bytes.count) { bytes in
            guard let base = bytes.baseAddress else { return .max }
            let starts = (0..<RSABatch.lanes).map { base + $0 * length }
            let texts = starts.map { UnsafePointer?($0.assumingMemoryBound(to: UInt8.self)) }
            let results = starts.map { UnsafeMutablePointer?(($0 + size).assumingMemoryBound(to: UInt8.self)) }
            let number = { (place: Int) -> [UnsafePointer<UInt64>?] in
                starts.map { UnsafePointer(($0 + 2 * size + place * size / 2).assumingMemoryBound(to: UInt64.self)) }
            }
            return function(
                texts, results, number(0), number(1), number(2), number(3), number(4), Int32(size * 8), nil, nil)
        }
    }

    /// Checks a lane's result, and takes the padding off.
    func read(_ lane: Int, _ key: RSALaneKey, for text: ArraySlice<UInt8>) -> Reading {
        let plain = ErasedBytes(count: size)
        let start = lane * length + size
        let count = bytes.read(start..<start + size) { result -> Int32? in
            guard let result = result.assumingMemoryBound(to: UInt8.self).baseAddress, key.isRight(result, for: text)
            else { return nil }
            return plain.write(0..<size) { plain in
                latchkey_oaep_sha1_remove(result, Int32(size), plain.assumingMemoryBound(to: UInt8.self).baseAddress)
            }
        }
        guard let count else { return .wrong }
        guard count >= 0, count <= size else {
            OpenSSLError.discardQueue()
            return .right(nil)
        }
        return .right(plain.read(0..<Int(count)) { Secret($0) })
    }
}
