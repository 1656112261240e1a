import Foundation
import LatchkeyCore
import LatchkeySystem

extension RecordSpool {
    func writeWaiting() {
        while true {
            let rows = state.withLock { state -> [Waiting] in
                defer { (state.waiting, state.waitingBytes) = ([], 0) }
                state.isWriting = !state.waiting.isEmpty
                state.began = state.isWriting ? .now : nil
                state.underWay = state.waiting.compactMap(\.promise)
                return state.waiting
            }
            guard !rows.isEmpty else { return }
            watch()
            write(rows)
            state.withLock { state in (state.began, state.underWay, state.isStuck) = (nil, [], false) }
        }
    }

    private func write(_ rows: [Waiting]) {
        var (sequence, used) = state.withLock { ($0.sequence, $0.standing.bytes) }
        var (bytes, kept) = ([UInt8](), 0)
        bytes.reserveCapacity(rows.reduce(0) { $0 + $1.json.count + 128 })
        for row in rows {
            let former = bytes.count
            SpoolFrame.append(RecordPosition(node: node, spool: name, sequence: sequence + 1), row.json, to: &bytes)
            guard used + bytes.count - former <= settings.bytes else {
                bytes.removeLast(bytes.count - former)
                break
            }
            (sequence, used, kept) = (sequence + 1, used + bytes.count - former, kept + 1)
        }
        var failure: String?
        if kept > 0 { failure = write(bytes, rows: kept, oldest: rows.first?.time) }
        if failure != nil { kept = 0 }
        state.withLock { $0.lastWasLost = kept < rows.count }
        if kept > 0 { report(.kept(kept)) }
        for row in rows.prefix(kept) { row.promise?.resolve(.success(.kept)) }
        guard kept < rows.count else { return }
        let loss: Loss = failure == nil ? .full : .failed
        report(.lost(loss, rows.count - kept, reason: failure ?? ""))
        for row in rows.dropFirst(kept) { row.promise?.resolve(.success(.lost(loss))) }
    }

    /// - Returns: why the bytes are not kept; `nil` if they are.
    private func write(_ bytes: [UInt8], rows: Int, oldest: Int64?) -> String? {
        do throws(FileError) {
            let (file, size) = try segment(for: bytes.count)
            var code = settings.disk.write(file.descriptor, bytes)
            if code == 0, settings.sync == .always { code = settings.disk.sync(file.descriptor) }
            guard code == 0 else {
                // If this file cannot be cut, the next row begins a new one.
                let isCut = ftruncate(file.descriptor, off_t(size)) == 0
                if !isCut { state.withLock { ($0.file, $0.sequence) = (nil, $0.sequence + 1) } }
                return String(cString: strerror(code))
            }
        } catch {
            return error.reason
        }
        let isFirst = state.withLock { state -> Bool in
            state.sequence += UInt64(rows)
            state.segments[state.segments.count - 1].size += bytes.count
            state.segments[state.segments.count - 1].rows += rows
            if state.standing.rows == 0 { state.standing.oldest = oldest }
            state.standing.rows += rows
            state.standing.bytes += bytes.count
            defer { state.isDirty = settings.sync == .written }
            return settings.sync == .written && !state.isDirty
        }
        if isFirst { syncing.asyncAfter(deadline: .now() + .milliseconds(80)) { [weak self] in self?.sync() } }
        return nil
    }

    /// The file for some more bytes, and its size.
    /// - Throws: `FileError`; with `always` also if the disk may have lost the previous file, or the name of the new one.
    private func segment(for bytes: Int) throws(FileError) -> (SpoolFile, Int) {
        let (file, last, sequence) = state.withLock { ($0.file, $0.segments.last, $0.sequence) }
        if let file, let last, last.size + bytes <= settings.segmentBytes || last.size == 0 { return (file, last.size) }
        if let file {
            // In any case, nothing more is written there.
            state.withLock { $0.file = nil }
            try check(settings.disk.sync(file.descriptor), last.map { "\(folder)/\($0.name)" } ?? folder)
        }
        let segment = SpoolSegment(start: start, spool: name, first: sequence + 1)
        let next = try SpoolFile(creating: "\(folder)/\(segment.name)")
        // A file's name is synced with its folder.
        try check(settings.disk.syncFolder(folder), folder)
        state.withLock { state in
            state.file = next
            if state.segments.last?.name != segment.name { state.segments.append(segment) }
        }
        return (next, 0)
    }

    /// Reports a file or a folder that the disk may not have kept.
    /// - Parameter code: why; 0 if it has.
    /// - Throws: `FileError` with `always`: no row may count as kept then.
    private func check(_ code: Int32, _ path: String) throws(FileError) {
        guard code != 0 else { return }
        let reason = String(cString: strerror(code))
        report(.unsynced(reason: reason))
        if settings.sync == .always { throw .cannotWrite(path, because: reason) }
    }

    func sync() {
        let file = state.withLock { state -> SpoolFile? in
            defer { state.isDirty = false }
            return state.isDirty ? state.file : nil
        }
        guard let file else { return }
        let code = settings.disk.sync(file.descriptor)
        guard code != 0 else { return }
        report(.unsynced(reason: String(cString: strerror(code))))
    }

    /// Makes sure that no caller waits for a disk that hangs.
    private func watch() {
        let begins = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if begins { scheduleWatch() }
    }

    private func scheduleWatch() {
        let seconds = settings.patience.inSeconds
        watching.asyncAfter(deadline: .now() + seconds / 2) { [weak self] in
            guard let self else { return }
            let (late, isOver) = state.withLock { state -> ([Promise<Outcome, Never>], Bool) in
                guard let began = state.began else {
                    state.isWatched = false
                    return ([], true)
                }
                guard !state.isStuck, ContinuousClock.now - began >= settings.patience else { return ([], false) }
                state.isStuck = true
                return (state.underWay + state.waiting.compactMap(\.promise), false)
            }
            if !late.isEmpty { report(.hangs) }
            for promise in late { promise.resolve(.success(.late)) }
            if !isOver { scheduleWatch() }
        }
    }
}
