import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyVault

/// A spool on a disk that hangs, fails, or loses bytes that it took.
extension RecordSpoolTests {
    @Test func `with “always” a row counts once the disk has it`() async throws {
        let syncs = Locked(0)
        let spool = try spool {
            $0.sync = .always
            $0.disk.sync = { _ in
                syncs.withLock { $0 += 1 }
                return 0
            }
        }
        await spool.append(.sample(1))
        #expect(syncs.withLock { $0 } == 1)
    }

    @Test(arguments: RecordSpool.Sync.allCases)
    func `after a flush the disk has every row`(_ sync: RecordSpool.Sync) async throws {
        let syncs = Locked(0)
        let spool = try spool {
            $0.sync = sync
            $0.disk.sync = { _ in
                syncs.withLock { $0 += 1 }
                return 0
            }
        }
        spool.post(.sample(1))
        await spool.flush()
        #expect(syncs.withLock { $0 } == 1)
    }

    @Test func `a failing disk loses only whole rows it did not take`() async throws {
        let (told, fails) = (Told(), Locked(true))
        let spool = try spool(told) {
            $0.disk.write = { descriptor, bytes in
                guard fails.withLock({ $0 }) else { return SpoolDisk.writeAll(descriptor, bytes) }
                _ = SpoolDisk.writeAll(descriptor, Array(bytes.prefix(bytes.count / 2)))
                return ENOSPC
            }
        }
        #expect(await spool.append(.sample(1)) == .lost(.failed))
        #expect(spool.standing.isFull)
        #expect(told.lost == [.lost(.failed, 1, reason: "No space left on device")])
        fails.withLock { $0 = false }
        #expect(await spool.append(.sample(2)) == .kept)
        #expect(!spool.standing.isFull)
        #expect(try spool.drain().map(\.requestID) == ["r2"])
    }

    @Test func `a failed sync of the disk is reported`() async throws {
        let told = Told()
        let spool = try spool(told) { $0.disk.sync = { _ in EIO } }
        #expect(await spool.append(.sample(1)) == .kept)
        await spool.flush()
        #expect(told.lost == [.unsynced(reason: "Input/output error")])
    }

    @Test
    func `with “always” a disk that fails at a new file confirms no row, and the next file takes rows again`()
        async throws
    {
        let (told, wrote) = (Told(), Locked(false))
        let spool = try spool(told) {
            $0.sync = .always
            $0.bytes = 32_768
            $0.disk.write = { descriptor, bytes in
                wrote.withLock { $0 = true }
                return SpoolDisk.writeAll(descriptor, bytes)
            }
            // Without a write before, it is the file that is left.
            $0.disk.sync = { _ in
                wrote.withLock { wrote in
                    defer { wrote = false }
                    return wrote ? 0 : EIO
                }
            }
        }
        var kept = 0
        while await spool.append(.sample(kept + 1)) == .kept { kept += 1 }
        #expect(kept > 10)
        #expect(told.lost.count == 2 && told.lost.first == .unsynced(reason: "Input/output error"))
        guard case .lost(.failed, 1, let reason)? = told.lost.last else {
            Issue.record("\(told.lost)")
            return
        }
        #expect(reason.contains("Input/output error") && reason.contains(".rows"))
        #expect(await spool.append(.sample(kept + 1)) == .kept)
        #expect(try segments.count == 2)
        #expect(try spool.drain().map(\.position.sequence) == (1...UInt64(kept) + 1).map(\.self))
    }

    @Test(arguments: RecordSpool.Sync.allCases)
    func `a new file whose name the disk may lose is reported, and with “always” takes no row`(
        _ sync: RecordSpool.Sync
    ) async throws {
        let (told, fails) = (Told(), Locked(true))
        let spool = try spool(told) {
            $0.sync = sync
            $0.disk.syncFolder = { path in fails.withLock { $0 } && path.hasSuffix("spool") ? EIO : 0 }
        }
        #expect(await spool.append(.sample(1)) == (sync == .always ? .lost(.failed) : .kept))
        #expect(told.lost.first == .unsynced(reason: "Input/output error"))
        fails.withLock { $0 = false }
        #expect(await spool.append(.sample(2)) == .kept)
        #expect(try spool.drain().map(\.requestID) == (sync == .always ? ["r2"] : ["r1", "r2"]))
    }

    @Test func `a failed sync between two files is reported`() async throws {
        let (told, gate) = (Told(), DispatchSemaphore(value: 0))
        let spool = try spool(told) {
            $0.bytes = 32_768
            $0.disk.sync = { _ in EIO }
        }
        // Only the change of files syncs anything to the disk.
        spool.syncing.async { gate.wait() }
        for number in 1...30 { #expect(await spool.append(.sample(number)) == .kept) }
        let count = try segments.count
        #expect(count > 1 && told.lost == Array(repeating: .unsynced(reason: "Input/output error"), count: count - 1))
        gate.signal()
    }

    @Test func `no caller waits for a disk that hangs, and its rows arrive later`() async throws {
        let (told, gate) = (Told(), DispatchSemaphore(value: 0))
        let hangs = Locked(true)
        let spool = try spool(told) {
            $0.patience = .milliseconds(20)
            $0.memory = 2_000
            $0.disk.write = { descriptor, bytes in
                if hangs.withLock({ $0 }) { gate.wait() }
                return SpoolDisk.writeAll(descriptor, bytes)
            }
        }
        #expect(await spool.append(.sample(1)) == .late)
        #expect(await spool.append(.sample(2)) == .late)
        #expect(told.lost == [.hangs])
        var late = 2
        while await spool.append(.sample(late + 1)) == .late { late += 1 }
        #expect(told.lost.last == .lost(.stuck, 1, reason: ""))
        hangs.withLock { $0 = false }
        gate.signal()
        await spool.flush()
        #expect(try spool.drain().map(\.requestID) == (1...late).map { "r\($0)" })
        // A busy machine may take longer than this patience for the next row.
        #expect(!spool.state.withLock { $0.isStuck })
        await spool.append(.sample(0))
        await spool.flush()
        #expect(try spool.drain().map(\.requestID) == ["r0"])
    }

    @Test func `a closed spool takes no row, and says so`() async throws {
        let told = Told()
        let spool = try spool(told)
        spool.post(.sample(1))
        await spool.close()
        #expect(await spool.append(.sample(2)) == .lost(.closed))
        #expect(told.lost == [.lost(.closed, 1, reason: "")])
        #expect(try spool.drain().map(\.requestID) == ["r1"])
    }
}
