import Foundation
import LatchkeyCore
import Testing

@Suite struct FairPlayErrorExplanationTests {
    @Test func `every number of the tables is explained`() {
        // Documentation/Players.md §3.12 and Documentation/FairPlay.md §14.
        let numbers = [
            -11800, -11819, -11831, -11835, -11836, -11850, -11857, -11882, -11860, -11863, -11867, -11868, -11870,
            -11878, -11879, -11888, -11889, -42656, -42668, -42669, -42672, -42673, -42675, -42674, -42681, -42676,
            -42679, -42783, -42580, -42800, -19152, -19156, -12035, 1_718_449_215, -46250, -42709, -42799, -42803,
            1_212_433_232, -15622, -15628, -1002, -17383, -12936, -12889, -12660, -12937, -12938, -12666, -12884,
            -12888, -12646, -12642, -11828, -11853, -11866, -12880, -12881, -12939, -16839, -16845,
        ]
        #expect(numbers.filter { FairPlayErrorExplanation.explaining($0) == nil }.isEmpty)
        let ofURLLoading = FairPlayErrorExplanation.all.filter { $0.domain == .url }.map(\.code)
        let found = [-12927, -15517, -15418, -42605, -42650]
        let known = Set(numbers).union(ofURLLoading).union(found)
        #expect(FairPlayErrorExplanation.all.count == known.count)
        #expect(Set(FairPlayErrorExplanation.all.map(\.code)) == known)
    }

    @Test func `every row of the tables is read`() { #expect(FairPlayErrorExplanation.flaws == []) }

    @Test(arguments: FairPlayErrorExplanation.all + FairPlayErrorExplanation.reactNativeVideo)
    func `an explanation gives event, cause and remedy`(_ explanation: FairPlayErrorExplanation) {
        #expect(!explanation.name.isEmpty && explanation.meaning.hasSuffix("."))
        #expect(!explanation.causes.isEmpty && !explanation.remedies.isEmpty)
        #expect((explanation.causes + explanation.remedies).allSatisfy { $0.hasSuffix(".") })
        #expect(explanation.description.hasPrefix("\(explanation.code) "))
    }

    @Test func `a number is found signed and unsigned`() {
        #expect(FairPlayErrorExplanation.explaining(4_294_955_461)?.code == -11835)
        #expect(FairPlayErrorExplanation.explaining(Int(UInt32(bitPattern: -42679)))?.name == "bad certificate")
        #expect(FairPlayErrorExplanation.explaining(1_212_433_232)?.name == "HDCP")
        #expect(FairPlayErrorExplanation.explaining(0) == nil)
        #expect(FairPlayErrorExplanation.explaining(.min) == nil)
        #expect(FairPlayErrorExplanation.explaining(.max) == nil)
    }

    private func error(_ domain: String, _ code: Int, _ below: NSError? = nil) -> NSError {
        NSError(domain: domain, code: code, userInfo: below.map { [NSUnderlyingErrorKey: $0] } ?? [:])
    }

    @Test func `the deepest number of a chain is explained`() {
        let chain = error("AVFoundationErrorDomain", -11800, error("CoreMediaErrorDomain", -42656, error("x", 1)))
        #expect(FairPlayErrorExplanation.explaining(chain)?.code == -42656)
    }

    @Test func `a number that only points to another is explained if there is no other`() {
        let pointer = error("NSOSStatusErrorDomain", -15628)
        #expect(FairPlayErrorExplanation.explaining(pointer)?.code == -15628)
        let chain = error("AVFoundationErrorDomain", -11835, pointer)
        #expect(FairPlayErrorExplanation.explaining(chain)?.code == -11835)
    }

    @Test func `an unknown domain's number is not explained`() {
        #expect(FairPlayErrorExplanation.explaining(error("app", -42656)) == nil)
        #expect(FairPlayErrorExplanation.explaining(error(NSURLErrorDomain, -1002))?.fixer == .app)
        #expect(FairPlayErrorExplanation.explaining(error("NSOSStatusErrorDomain", -1002)) == nil)
        #expect(FairPlayErrorExplanation.explaining(error("RCTVideo", 1002))?.name == "licenseRequestFailed")
    }

    @Test func `several underlying errors are all read, and a long chain ends`() {
        let several = [error("app", 1), error("NSOSStatusErrorDomain", -42800)]
        let top = NSError(domain: "app", code: 2, userInfo: ["NSMultipleUnderlyingErrorsKey": several])
        #expect(FairPlayErrorExplanation.explaining(top)?.code == -42800)
        let long = (0..<100).reduce(error("app", 0)) { error("app", $1, $0) }
        #expect(FairPlayErrorExplanation.chain(of: long).count == FairPlayErrorExplanation.longestChain)
    }
}
