/// Opens when a number of tasks have arrived, for all of them at once.
actor Gate {
    private let needed: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []
    private var arrived = 0
    private(set) var isOpen = false

    init(opensAt needed: Int = .max) { self.needed = needed }

    /// Arrives and waits for the gate to open.
    func pass() async {
        arrived += 1
        watchers.forEach { $0.resume() }
        watchers = []
        if arrived >= needed { open() }
        guard !isOpen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Waits until somebody has arrived.
    func untilSomeoneArrives() async {
        guard arrived == 0 else { return }
        await withCheckedContinuation { watchers.append($0) }
    }

    func open() {
        isOpen = true
        waiting.forEach { $0.resume() }
        waiting = []
    }
}
