package import Foundation

extension Data {
    /// Decodes base64 in the forms that vendors and players use.
    ///
    /// Accepts the standard and the URL-safe alphabet, missing padding, line breaks and surrounding white space. A blank inside
    /// counts as the `+` that an unescaped form body lost.
    ///
    /// - Parameter text: the base64 text. Text that is not base64 and empty text give `nil`.
    ///
    /// Source: `Documentation/Vendors/README.md` §0, `Documentation/FairPlay.md` §13.
    package init?(lenientBase64 text: String) {
        // Nearly all text is standard, and that check costs a tenth of lenient reading.
        if let data = Data(base64Encoded: text), !data.isEmpty {
            self = data
            return
        }
        var standard: [UInt8] = []
        standard.reserveCapacity(text.utf8.count + 3)
        for byte in text.withoutOuterSpace.utf8 {
            switch byte {
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "\t"): continue
            case UInt8(ascii: "-"), UInt8(ascii: " "): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                standard.append(byte)
            // Most text that is not base64 shows it early.
            default: return nil
            }
        }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        guard !standard.isEmpty, let data = Data(base64Encoded: Data(standard)) else { return nil }
        self = data
    }
}
