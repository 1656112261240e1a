package import Foundation
import LatchkeyCore

/// A demonstration's line of output for one played stream.
package struct DemoLine {
    let requests: Int
    /// `nil` if it was not measured, as in virtual time.
    let timeToKey: Duration?
    let frames: Int
    let picture: URL
    /// The page that shows the picture.
    let page: URL
    package let isRight: Bool
    /// Additional events, such as heartbeats.
    package var remark: String?

    package init(requests: Int, timeToKey: Duration?, frames: Int, picture: URL, page: URL, isRight: Bool) {
        self.requests = requests
        self.timeToKey = timeToKey
        self.frames = frames
        self.picture = picture
        self.page = page
        self.isRight = isRight
    }

    package var text: String {
        let time = timeToKey.map { ", \(Int(saturating: $0.inMilliseconds.rounded())) ms" } ?? ""
        return "key in \(requests.counted("request"))\(time)   \(frames) frames decoded   \(page.relativePath)"
            + (remark.map { "   \($0)" } ?? "") + (isRight ? "" : "   WRONG PICTURE")
    }
}
