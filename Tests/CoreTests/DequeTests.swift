import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct DequeTests {
    @Test func `elements come out in order, from both ends`() {
        var deque = Deque<Int>()
        #expect(deque.isEmpty && deque.first == nil && deque.popFirst() == nil && deque.popLast() == nil)
        for number in 1...5 { deque.append(number) }
        #expect(deque.popFirst() == 1 && deque.popLast() == 5 && deque.first == 2 && deque.count == 3)
    }

    @Test(arguments: [1 as UInt64, 2, 3]) func `any order of calls matches an array`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (deque, array) = (Deque<Int>(), [Int]())
        for number in 0..<2_000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1, 2:
                deque.append(number)
                array.append(number)
            case 3: #expect(deque.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
            default: #expect(deque.popLast() == array.popLast())
            }
            #expect(deque.count == array.count && deque.first == array.first)
        }
    }
}
