import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeySupport

@Suite(.timeLimit(.minutes(1))) struct ZipArchiveTests {
    private static let archive = ZipArchive([
        .init("README.txt", Data("Read me.\n".utf8)), .init("a/empty.json", Data()),
        .init("a/bytes.bin", Data((0...255).map { UInt8($0) })),
    ])

    @Test func `an archive is read back and always has the same bytes`() throws {
        let data = Self.archive.data
        #expect(try ZipArchive(reading: data) == Self.archive)
        #expect(data == Self.archive.data)
        #expect(try ZipArchive(reading: data)["a/bytes.bin"]?.count == 256)
    }

    @Test func `the checksum matches the standard's example`() {
        #expect(CRC32.checksum(Data("123456789".utf8)) == 0xcbf4_3926)
    }

    @Test func `another program reads it`() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "bundle.zip")
        try Self.archive.data.write(to: file)
        let process = Subprocess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist())",
            file.path,
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        // 127: there is no Python on this machine.
        guard process.terminationStatus != 127 else { return }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text == "None ['README.txt', 'a/empty.json', 'a/bytes.bin']\n")
    }

    @Test func `a truncated archive is refused`() {
        let data = Self.archive.data
        for count in 0..<data.count {
            #expect(throws: Diagnosis.self) { try ZipArchive(reading: data.prefix(count)) }
        }
    }

    @Test func `a changed byte of any file is noticed`() throws {
        let data = Self.archive.data
        let start = try #require(data.range(of: Data("Read me.".utf8))).lowerBound
        var damaged = data
        damaged[start] ^= 1
        #expect(Self.code(of: damaged) == "zipMalformed")
    }

    @Test(arguments: [
        "../../etc/passwd", "/etc/passwd", "a/../b", "a\u{1b}[2J", "a\\b", "", ".", "a//b", "C:x", "é",
        String(repeating: "a", count: 300),
    ])
    func `a name that escapes or disturbs a terminal is refused`(_ name: String) {
        #expect(Self.code(of: ZipArchive([.init(name, Data())]).data) == "zipNameRefused")
    }

    @Test func `two files of one name are refused`() {
        let twice = ZipArchive([.init("a", Data()), .init("a", Data([1]))])
        #expect(Self.code(of: twice.data) == "zipNameRefused")
    }

    /// A bomb is small and unfolds: by compression, or by entries that share their bytes.
    @Test func `nothing unfolds to more than it is`() throws {
        let data = Self.archive.data
        let directory = try #require(data.range(of: Data([0x50, 0x4b, 1, 2]))).lowerBound
        var packed = data
        packed[directory + 10] = 8
        #expect(Self.code(of: packed) == "zipPacked")
        let two = ZipArchive([.init("a", Data(count: 9)), .init("b", Data(count: 9))]).data
        let last = try #require(two.range(of: Data([0x50, 0x4b, 1, 2]), options: .backwards)).lowerBound
        var shared = two
        shared.replaceSubrange(last + 42..<last + 46, with: Data(count: 4))
        #expect(Self.code(of: shared) == "zipMalformed")
    }

    @Test func `a count or a size beyond the limits is refused before anything is read`() throws {
        var many = Self.archive.data
        many.replaceSubrange(many.count - 12..<many.count - 10, with: [0xff, 0xff])
        #expect(Self.code(of: many) == "zipTooLarge")
        #expect(Self.code(of: Data(count: ZipArchive.sizeLimit + 1)) == "zipTooLarge")
    }

    @Test(arguments: 0..<50)
    func `random damage does not crash`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            var data = Self.archive.data
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                data[Int.random(in: 0..<data.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let read = try? ZipArchive(reading: data) else { continue }
            #expect(read.entries.map(\.data.count).reduce(0, +) <= data.count)
        }
    }

    private static func code(of data: Data) -> String? {
        do { _ = try ZipArchive(reading: data) } catch { return error.code }
        return nil
    }
}
