import LatchkeyCore
import LatchkeyServices
import Testing

@Suite struct RotatingKeysTests {
    @Test func `every track and period has its own key`() {
        let keys = RotatingKeys(tracks: ["audio", "sd", "hd", "uhd"]).store(periods: 100).keys
        #expect(keys.count == 400)
        #expect(Set(keys.map(\.id)).count == 400)
        #expect(Set(keys.map(\.content)).count == 400)
        #expect(Set(keys.map(\.uri)).count == 400)
    }

    @Test func `the same number gives the same keys, another one others`() {
        #expect(RotatingKeys(seed: 3).key("video", period: 7) == RotatingKeys(seed: 3).key("video", period: 7))
        #expect(RotatingKeys(seed: 3).key("video", period: 7).id != RotatingKeys(seed: 4).key("video", period: 7).id)
    }

    @Test func `a store finds the key of each period by its URI`() {
        let keys = RotatingKeys()
        #expect(keys.store(periods: 3).key(named: "skd://live/video-2") == .one(keys.key("video", period: 2)))
        #expect(keys.store(periods: 3).key(named: "skd://live/video-3") == .none)
    }
}
