import Foundation
import LatchkeyCore

/// Connections that flood one stage of a request, without an end: each that is closed is opened again. Two threads send for all.
struct AttackCrowd: Sendable {
    /// The number of clients, from one address for every 250.
    var count = 32
    var isTLS = false
    /// The bytes that each sends first, and then again and again; empty for nothing.
    let first: Data
    var rest = Data()
    /// Whether it reads the answers.
    var reads = true
    /// Whether it leaves after the first reply, and comes again.
    var leaves = false

    private struct Member {
        var socket: AttackSocket?
        let address: String
        var sent = 0
    }

    /// Attacks a port until it is over.
    /// - Returns: a closure that ends it, and waits for its end.
    func attack(_ port: UInt16) -> () -> Void {
        let (isOver, threads) = (Locked(false), DispatchGroup())
        for part in 0..<2 {
            threads.enter()
            Thread.detachNewThread {
                var members = (0..<count).filter { $0 % 2 == part }.map { Member(address: "127.0.0.\(2 + $0 / 250)") }
                while !isOver.withLock({ $0 }) {
                    for index in members.indices { step(&members[index], port) }
                    AttackSocket.wait(for: members.compactMap { one in one.socket.map { ($0, sends(one)) } })
                }
                members = []
                threads.leave()
            }
        }
        return {
            isOver.withLock { $0 = true }
            threads.wait()
        }
    }

    private func sends(_ member: Member) -> Bool { member.sent < first.count || !rest.isEmpty }

    private func step(_ member: inout Member, _ port: UInt16) {
        if member.socket == nil {
            (member.socket, member.sent) = (AttackSocket(port: port, from: member.address, patience: 1), 0)
        }
        guard let socket = member.socket else { return }
        let taken = reads ? socket.take() : 0
        var hasEnded = taken.map { $0 > 0 && leaves } ?? true
        if !hasEnded, sends(member) {
            let piece =
                member.sent < first.count
                ? first.dropFirst(member.sent) : rest.dropFirst((member.sent - first.count) % rest.count)
            if let count = socket.push(piece) { member.sent += count } else { hasEnded = true }
        }
        if hasEnded { member.socket = nil }
    }
}
