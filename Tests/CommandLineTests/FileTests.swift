import Foundation
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct FileTests {
    private let folder: TemporaryFolder
    private let console = Console(output: MemorySink(), error: MemorySink(), showsProgress: false) { _ in
        Data("in".utf8)
    }

    init() throws { folder = try TemporaryFolder() }

    private func write(
        _ text: String, _ name: String, for readers: OutputFile.Readers = .owner,
        _ existing: OutputFile.Existing = .replace
    ) throws {
        try OutputFile.write(Data(text.utf8), to: folder.path(name), for: readers, ifExists: existing, console)
    }

    @Test func `a secret file is its owner's alone, even if it replaces another`() throws {
        try write("old", "a", for: .everyone)
        try write("new", "a", for: .owner)
        #expect(folder.mode("a") == 0o600)
        #expect(folder.contents("a") == Data("new".utf8))
        #expect(folder.names == ["a"])
    }

    @Test func `existing files are kept on request`() throws {
        try write("old", "a")
        #expect { try write("new", "a", for: .owner, .refuse) } throws: { ($0 as? FileError)?.code == "fileExists" }
        #expect(folder.contents("a") == Data("old".utf8))
    }

    @Test func `a link still points to the file that is replaced`() throws {
        try write("old", "a")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: folder.path("a"))
        try write("new", "link")
        #expect(folder.contents("a") == Data("new".utf8))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link")) == folder.path("a"))
    }

    @Test func `a device is written to, not replaced`() throws {
        try OutputFile.write(Data("x".utf8), to: "/dev/null", for: .owner, console)
        #expect(
            (try FileManager.default.attributesOfItem(atPath: "/dev/null"))[.type] as? FileAttributeType != .typeRegular
        )
    }

    @Test func `without a folder, no file is left behind`() {
        #expect { try write("x", "missing/a") } throws: { ($0 as? FileError)?.code == "cannotWrite" }
        #expect(folder.names == [])
    }

    @Test func `a dash means standard input and output`() throws {
        let output = MemorySink()
        let console = Console(output: output, error: MemorySink(), showsProgress: false) { _ in Data("in".utf8) }
        try OutputFile.write(Data("x".utf8), to: "-", for: .owner, console)
        #expect(output.text == "x")
        #expect(try InputFile.read("-", limit: 10, console) == Data("in".utf8))
    }

    @Test(
        arguments: [("0123456789", 10, nil), ("0123456789", 9, "fileTooLarge"), ("", 0, nil)]
            as [(String, Int, String?)])
    func `a file is read up to a limit`(text: String, limit: Int, code: String?) throws {
        try write(text, "a")
        do throws(FileError) {
            #expect(try read("a", limit: limit) == Data(text.utf8))
            #expect(code == nil)
        } catch {
            #expect(error.code == code)
        }
    }

    @Test(arguments: ["missing", "."])
    func `an unreadable file is named with the reason`(name: String) {
        #expect { try read(name, limit: 10) } throws: { error in
            guard let error = error as? FileError else { return false }
            return error.code == "cannotRead" && error.reason.contains(folder.url.path)
        }
    }

    @Test func `a full disk is not a success`() async throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let error = MemorySink()
        let console = Console(output: FileSink(full), error: error, showsProgress: false) { _ in Data() }
        let status = await CommandLineTool.latchkey([]).run(["--version"], console)
        #expect(status == .no)
        #expect(error.text.contains("standard output cannot be written"))
    }

    @Test func `a closed reader is not a failure`() async {
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        try? pipe.fileHandleForReading.close()
        let error = MemorySink()
        let console = Console(output: FileSink(pipe.fileHandleForWriting), error: error, showsProgress: false) { _ in
            Data()
        }
        #expect(await CommandLineTool.latchkey([]).run(["--version"], console) == .yes)
        #expect(error.text == "")
    }

    private func read(_ name: String, limit: Int) throws(FileError) -> Data {
        do {
            return try InputFile.read(folder.path(name), limit: limit, console)
        } catch let error as FileError {
            throw error
        } catch {
            throw .cannotRead(name, because: "of an error of another type")
        }
    }
}
