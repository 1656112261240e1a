import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
import LatchkeyVault

/// The query of an import.
extension CPIXExchange.Change {
    /// Reads a packager's query. A packager replaces nothing: keys imported by others are not a packager's to change.
    /// - Throws: `cpixContent`, `cpixReplace`.
    package init(ofPackager request: HTTPRequest) throws(LicenseRefusal) {
        try self.init(content: request)
        guard request.queryValue("replace") == nil else {
            throw .cpix(
                "cpixReplace", "Packagers cannot replace keys.",
                "Have an operator send the document to /admin/v1/tenants/TENANT/cpix?replace=KID.", 403)
        }
    }

    /// Of an operator: `?content=NAME`, and `?replace=KID,KID` once or several times.
    /// - Throws: `cpixContent`, `cpixReplace`.
    package init(ofOperator request: HTTPRequest) throws(LicenseRefusal) {
        try self.init(content: request)
        for text in request.queryItems.filter({ $0.name == "replace" }).compactMap(\.value) {
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let kid = KeyID(uuid: String(name)) else {
                    throw .cpix("cpixReplace", "A kid to replace is not a UUID.", "Write ?replace=KID,KID.", 400)
                }
                replaced.insert(kid)
            }
        }
    }

    private init(content request: HTTPRequest) throws(LicenseRefusal) {
        self.init()
        guard let stated = request.queryValue("content") else { return }
        guard let name = ContentName(stated) else {
            throw .cpix("cpixContent", "The query's content is not 1 to 256 bytes.", "Write ?content=NAME.", 400)
        }
        content = name
    }
}
