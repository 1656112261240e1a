import LatchkeyCore

/// One box of an MP4 file: its type and its ranges, in bytes from the start of the file.
///
/// Source: ISO/IEC 14496-12 §4.2.
struct ISOBox: Equatable {
    /// Four characters, such as `moof`.
    let type: String
    /// Header and payload.
    let range: Range<Int>
    /// Everything after the header.
    let payload: Range<Int>
}

/// The boxes of an MP4 file or segment, with every length checked.
///
/// A box that exceeds its parent is an error. Boxes are parsed on request only.
struct ISOBoxes {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The top-level boxes of the file.
    /// - Throws: `Diagnosis` `malformedMedia`.
    func boxes() throws -> [ISOBox] { try boxes(in: 0..<bytes.count) }

    /// The boxes that fill a range.
    /// - Throws: `Diagnosis` `malformedMedia` if a box is shorter than its header or longer than the range.
    func boxes(in range: Range<Int>) throws -> [ISOBox] {
        var found: [ISOBox] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let box = try box(at: start, within: range)
            found.append(box)
            start = box.range.upperBound
        }
        return found
    }

    /// The boxes of one type directly inside a box.
    func children(of box: ISOBox, type: String) throws -> [ISOBox] {
        try boxes(in: box.payload).filter { $0.type == type }
    }

    /// A big-endian number of 1 to 8 bytes.
    /// - Throws: `Diagnosis` `malformedMedia` if the bytes exceed the range.
    func number(at offset: Int, size: Int, within range: Range<Int>) throws -> UInt64 {
        try slice(at: offset, size: size, within: range).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The bytes at an offset.
    /// - Throws: `Diagnosis` `malformedMedia` if they exceed the range.
    func slice(at offset: Int, size: Int, within range: Range<Int>) throws -> ArraySlice<UInt8> {
        guard offset >= range.lowerBound, size >= 0, range.upperBound <= bytes.count, offset <= range.upperBound,
            size <= range.upperBound - offset
        else { throw Diagnosis.malformedMedia("\(size) bytes at \(offset) reach past their box") }
        return bytes[offset..<offset + size]
    }

    private func box(at start: Int, within range: Range<Int>) throws -> ISOBox {
        let short = try number(at: start, size: 4, within: range)
        let type = String(decoding: try slice(at: start + 4, size: 4, within: range), as: UTF8.self)
        let header = short == 1 ? 16 : 8
        let size =
            switch short {
            case 0: UInt64(range.upperBound - start)
            case 1: try number(at: start + 8, size: 8, within: range)
            default: short
            }
        guard size >= header, size <= range.upperBound - start else {
            throw Diagnosis.malformedMedia("a box at \(start) states \(size) bytes")
        }
        let end = start + Int(size)
        return ISOBox(type: type, range: start..<end, payload: start + header..<end)
    }
}

extension ISOBoxes {
    /// The file with the payload of every box at the end of a path replaced. The boxes around it get their new sizes.
    ///
    /// - Parameters:
    ///   - path: the box types, outermost first.
    ///   - payload: the new payload of the innermost boxes.
    /// - Returns: `nil` if there is no box at the end of the path.
    func replacing(_ path: [ISOBoxStep], with payload: [UInt8]) throws -> ISOBoxes? {
        var isFound = false
        let replaced = try replacing(path[...], with: payload, in: 0..<bytes.count, &isFound)
        return isFound ? ISOBoxes(replaced) : nil
    }

    private func replacing(
        _ path: ArraySlice<ISOBoxStep>, with payload: [UInt8], in range: Range<Int>, _ isFound: inout Bool
    ) throws -> [UInt8] {
        guard let step = path.first else {
            isFound = true
            return payload
        }
        var result: [UInt8] = []
        for box in try boxes(in: range) {
            guard box.type == step.type else {
                result += bytes[box.range]
                continue
            }
            let fields = try slice(at: box.payload.lowerBound, size: step.fields, within: box.payload)
            let inner = fields.endIndex..<box.payload.upperBound
            let content = try fields + replacing(path.dropFirst(), with: payload, in: inner, &isFound)
            result += Self.header(type: box.type, payload: content.count) + content
        }
        return result
    }

    private static func header(type: String, payload: Int) -> [UInt8] {
        let size = UInt32(truncatingIfNeeded: payload + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Array(type.utf8.prefix(4))
    }
}

/// One step into nested boxes.
struct ISOBoxStep {
    /// The type of the box to enter.
    let type: String
    /// The number of bytes of fields between its header and its first child.
    var fields = 0
}
