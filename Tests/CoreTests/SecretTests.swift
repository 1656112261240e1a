import Foundation
import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct SecretTests {
    private let secret = Secret("hunter2 is no password")

    @Test func `no way of printing shows the bytes`() {
        var dumped = ""
        dump(secret, to: &dumped)
        dump(["nested": [secret]], to: &dumped)
        let shown = [
            "\(secret)", String(reflecting: secret), String(describing: [secret]), dumped,
            "\(Mirror(reflecting: secret).children.map(\.value))",
        ]
        #expect(shown.filter { $0.contains("hunter2") } == [])
        #expect("\(secret)".contains("22 bytes"))
    }

    @Test func `equal bytes have equal digests and others do not`() {
        #expect(secret.digest == Secret("hunter2 is no password").digest)
        #expect(secret.digest != Secret("hunter3 is no password").digest)
        #expect(secret.digest.count == 6)
    }

    @Test(arguments: [("a", "a", true), ("a", "b", false), ("a", "aa", false), ("", "", true), ("", "a", false)])
    func `secrets with equal bytes are equal`(one: String, other: String, areEqual: Bool) {
        #expect((Secret(one) == Secret(other)) == areEqual)
        #expect((Set([Secret(one), Secret(other)]).count == 1) == areEqual)
    }

    @Test func `the bytes come back unchanged`() {
        #expect(secret.revealedText == "hunter2 is no password")
        #expect(Secret(Data([0, 255])).revealed == Data([0, 255]))
        #expect(Secret([UInt8]()).count == 0)
    }

    @Test func `many tasks read one secret`() async {
        let lengths = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<64 { group.addTask { [secret] in secret.revealed.count + secret.digest.count } }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(lengths == [28])
    }

    @Test func `erasing leaves zeros`() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.withUnsafeMutableBytes { erase($0) }
        #expect(bytes == [0, 0, 0])
    }

    @Test func `the bytes are erased with the last copy, not before`() {
        let freed = Locked<[UInt8]?>(nil)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 300, alignment: 1)
        buffer.copyBytes(from: repeatElement(0xa5 as UInt8, count: 300))
        do {
            let secret = Secret(adopting: buffer) { buffer in
                freed.withLock { $0 = [UInt8](buffer) }
                buffer.deallocate()
            }
            do { _ = [secret, secret] }
            #expect(secret.revealed == Data(repeating: 0xa5, count: 300))
            withExtendedLifetime(secret) { #expect(freed.withLock { $0 } == nil) }
        }
        #expect(freed.withLock { $0 } == [UInt8](repeating: 0, count: 300))
    }

    @Test(arguments: [1, 15, 16, 17, 31, 32, 33, 200])
    func `one bit anywhere makes two secrets differ`(count: Int) {
        let bytes = [UInt8](repeating: 0x5a, count: count)
        for position in 0..<count {
            for bit in 0..<8 {
                var other = bytes
                other[position] ^= 1 << bit
                #expect(Secret(bytes) != Secret(other))
            }
        }
        #expect(Secret(bytes) == Secret(bytes))
    }
}
