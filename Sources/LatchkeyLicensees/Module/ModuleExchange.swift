import Foundation
import LatchkeyCore
import LatchkeyForms

/// One item for a module: an SPC, and the key and terms to answer it with.
struct ModuleQuestion: Sendable {
    var spc: Data
    var assetID: String
    var contentID: String
    var key: Secret
    /// The terms, as the template writes them.
    var members: [String: JSONValue] = [:]
}

/// A module's answer to one item.
struct ModuleReply: Sendable, Equatable {
    let ckc: Secret
    /// The asset id that the device put into the SPC.
    let assetID: String
}

/// The JSON of a module's operation `create-ckc`.
///
/// Source: `Documentation/Licensees.md` §6.
enum ModuleExchange {
    /// The most bytes that a CKC may have; devices' have about 1 KiB.
    private static let ckcBytes = 1 << 16

    /// The most bytes of output for some items.
    static func limit(_ items: Int) -> Int { items * 2 * ckcBytes }

    /// - Parameter first: the identifier of the first item; the others follow.
    static func request(_ questions: [ModuleQuestion], first: Int) -> [UInt8] {
        let items = questions.enumerated().map { offset, question in
            JSONValue.object(
                question.members.merging([
                    "id": .number(Double(first + offset)), "spc": .text(question.spc.base64EncodedString()),
                    "asset-id": .text(question.assetID), "content-id": .text(question.contentID),
                    "ck": .text(question.key.revealed.base64EncodedString()),
                ]) { $1 })
        }
        let request = JSONValue.object(["fairplay-streaming-request": .object(["create-ckc": .array(items)])])
        return Array(request.canonicalText.utf8)
    }

    /// - Returns: the answers in the order of the items.
    /// - Throws: `garbage` for output of any other form, or with other items.
    static func replies(
        _ output: [UInt8], count: Int, first: Int
    ) throws(ModuleFailure) -> [Result<ModuleReply, ModuleFailure>] {
        guard let items = JSONValue(output)?["fairplay-streaming-response"]?["create-ckc"]?.elements else {
            throw .garbage("\(output.count) bytes that are not the JSON of a response")
        }
        var replies: [Int: Result<ModuleReply, ModuleFailure>] = [:]
        for item in items {
            guard case .number(let id)? = item["id"], let id = Int(exactly: id), first..<first + count ~= id,
                case .number(let status)? = item["status"], let status = Int(exactly: status)
            else { throw .garbage("an item without the identifier of a request, or without a status") }
            guard replies.updateValue(reply(item, status), forKey: id) == nil else {
                throw .garbage("two items with the same identifier")
            }
        }
        guard replies.count == count else { throw .garbage("\(replies.count) items for \(count)") }
        return replies.sorted { $0.key < $1.key }.map(\.value)
    }

    private static func reply(_ item: JSONValue, _ status: Int) -> Result<ModuleReply, ModuleFailure> {
        guard status == 0 else { return .failure(ModuleFailure(status: status)) }
        guard let ckc = item["ckc"]?.text.flatMap({ Data(base64Encoded: $0) }), !ckc.isEmpty,
            let assetID = item["asset-id"]?.text
        else { return .failure(ModuleFailure(.incomplete, "The licensee's module returned no CKC, or no asset id.")) }
        guard ckc.count <= ckcBytes else {
            return .failure(ModuleFailure(.oversized, "The licensee's module returned a CKC of \(ckc.count) bytes."))
        }
        return .success(ModuleReply(ckc: Secret(ckc), assetID: assetID))
    }
}
