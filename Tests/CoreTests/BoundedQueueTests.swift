import LatchkeyCore
import Testing

@Suite struct BoundedQueueTests {
    @Test(arguments: [(0, []), (2, [0, 1]), (3, [0, 1, 2]), (4, [1, 2, 3]), (8, [5, 6, 7]), (9, [6, 7, 8])])
    func `the latest elements are kept in order`(_ count: Int, _ expected: [Int]) {
        var queue = BoundedQueue<Int>(limit: 3)
        for number in 0..<count { queue.append(number) }
        #expect(queue.elements == expected)
    }

    @Test func `a full queue returns the element it dropped`() {
        var queue = BoundedQueue<Int>(limit: 2)
        #expect((0..<4).map { queue.append($0) } == [nil, nil, 0, 1])
    }

    @Test func `a limit below one keeps one element`() {
        var queue = BoundedQueue<Int>(limit: 0)
        queue.append(1)
        queue.append(2)
        #expect(queue.elements == [2])
    }

    @Test func `a dictionary forgets its oldest key, and a known key keeps its place`() {
        var dictionary = BoundedDictionary<String, Int>(limit: 2)
        #expect(dictionary.updateValue(1, forKey: "a") == nil)
        #expect(dictionary.updateValue(2, forKey: "b") == nil)
        #expect(dictionary.updateValue(3, forKey: "a") == 1)
        #expect(dictionary.updateValue(4, forKey: "c") == nil)
        #expect(dictionary["a"] == nil)
        #expect(dictionary["b"] == 2)
        #expect(dictionary["c"] == 4)
    }
}
