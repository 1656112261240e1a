public import Latchkey

/// What can be set about JW Player's keys.
public struct JWPlayerOptions: Sendable {
    /// How long the SPC of one key may keep other keys waiting; 3 s unless given. Players make one in a fraction of that.
    public var patience: Duration
    /// The time.
    public var timekeeper: any Timekeeper

    /// Makes options.
    public init(patience: Duration = .seconds(3), timekeeper: any Timekeeper = SystemTimekeeper()) {
        self.patience = patience
        self.timekeeper = timekeeper
    }
}
