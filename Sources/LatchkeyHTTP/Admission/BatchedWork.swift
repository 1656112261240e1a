import LatchkeyCore

/// Work of a kind whose pieces cost less together than one after the other.
///
/// A thread that takes a piece takes those with it that would be next anyway. It never waits for more to come.
package final class BatchedWork<Input: Sendable, Value: Sendable>: Sendable {
    let least: Int
    let most: Int
    private let work: @Sendable ([Input]) -> [Value]

    /// - Parameters:
    ///   - least: how many have to wait so that a thread takes several; fewer are done one by one, by as many threads.
    ///   - most: how many a thread takes.
    ///   - work: does some, one too; gives as many values as it gets inputs, in their order.
    package init(least: Int, most: Int, _ work: @escaping @Sendable ([Input]) -> [Value]) {
        (self.least, self.most, self.work) = (least, most, work)
    }

    /// Does one piece alone.
    func alone(_ input: Input) -> Value { values([input])[0] }

    private func values(_ inputs: [Input]) -> [Value] {
        let values = work(inputs)
        precondition(values.count == inputs.count, "joint work returns one value per input")
        return values
    }
}

/// A piece of joint work in the queue: its kind of work, and the piece itself, which only that kind can read.
struct BatchedPiece: Sendable {
    let work: any AnyBatchedWork
    let piece: any Sendable
}

/// Joint work of any kind.
protocol AnyBatchedWork: AnyObject, Sendable {
    var least: Int { get }
    var most: Int { get }
    /// Does pieces of this kind, except for pieces whose callers are gone.
    func run(_ pieces: [any Sendable])
}

extension BatchedWork: AnyBatchedWork {
    /// An input, and the caller that waits for its value.
    struct Piece: Sendable {
        let input: Input
        let waiter: PieceWaiter<Value>
    }

    func run(_ pieces: [any Sendable]) {
        let open = pieces.compactMap { $0 as? Piece }.compactMap { piece in
            piece.waiter.leaves().map { (input: piece.input, answer: $0) }
        }
        guard !open.isEmpty else { return }
        for (one, value) in zip(open, values(open.map(\.input))) { one.answer.resume(returning: .success(value)) }
    }
}
