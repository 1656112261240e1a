/// The parts of a server that can be attacked.
struct AttackSurface: Sendable {
    /// A path that takes bodies.
    struct Form: Sendable {
        let port: UInt16
        let path: String
        /// Header fields that the place expects, each with its line's end.
        var fields = ""
        /// How a body begins.
        var opening = ""
        /// The pieces with which a body continues, again and again.
        var pieces = ["[", "{\"a\":", "1,", "\u{0}", "A"]
    }

    /// Existing paths.
    let pages: [String]
    let forms: [Form]
}

extension AttackSurface {
    /// The emulated services of `latchkey serve`.
    static func services(port: UInt16) -> AttackSurface {
        let pieces = ["[", "{\"a\":", "a&", "+", "%2B", "1,", "\r\n--b\r\n", "\u{0}", "A"]
        let forms = [
            ("/generic/json", "application/json"), ("/vudrm/license", "application/json"),
            ("/comcast/fpls/web/FairPlay?token=t&account=a", "application/json"),
            ("/generic/form", "application/x-www-form-urlencoded"),
            ("/verimatrix/fairplay", "application/x-www-form-urlencoded"),
            ("/kaltura/fps/license", "application/octet-stream"),
            ("/azure/FairPlay/?kid=x", "application/octet-stream"),
            ("/cloud-drm/acquire-license/fairplay", "multipart/form-data; boundary=b"),
        ]
        return AttackSurface(
            pages: ["/vudrm", "/media", "/mux/license/fairplay"],
            forms: forms.map { path, type in
                Form(port: port, path: path, fields: "Content-Type: \(type)\r\n", pieces: pieces)
            })
    }

    /// The three listeners of `latchkey-server`.
    /// - Parameters:
    ///   - ports: the ports of players, packagers and operators.
    ///   - packagerKey: a packager's key that was stolen.
    ///   - adminKey: an operator's key that was stolen.
    static func licenseServer(
        _ ports: (players: UInt16, packagers: UInt16, operators: UInt16), packagerKey: String, adminKey: String
    ) -> AttackSurface {
        let json = "Content-Type: application/json\r\n"
        let packager = "X-API-Key: \(packagerKey)\r\nX-Speke-Version: 2.0\r\n"
        let admin = "Authorization: Bearer \(adminKey)\r\n"
        let bomb = #"<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><cpix:CPIX>"#
        let tags = ["<a>", "&b;", "<a b=\"", "<![CDATA[", "<!--", "<?p?>", "<cpix:ContentKey kid=\"\">"]
        return AttackSurface(
            pages: [
                "/t/demo/certificate", "/t/demo/speke", "/admin/v1/tenants/demo/keys", "/metrics", "/readyz", "/",
                "/play",
            ],
            forms: [
                Form(port: ports.players, path: "/t/demo/fairplay", fields: json, opening: #"{"spc":""#),
                Form(port: ports.players, path: "/t/demo/fairplay"),
                Form(port: ports.players, path: "/t/demo/clearkey", fields: json, opening: #"{"kids":["#),
                Form(port: ports.players, path: "/t/demo/sessions/heartbeat"),
                Form(port: ports.packagers, path: "/t/demo/speke", fields: packager, opening: bomb, pieces: tags),
                Form(port: ports.packagers, path: "/t/demo/speke", fields: packager, opening: "<a>", pieces: tags),
                Form(
                    port: ports.packagers, path: "/t/demo/cpix", fields: packager, opening: "<cpix:CPIX>", pieces: tags),
                Form(port: ports.packagers, path: "/t/demo/keys/common-encryption", fields: packager + json),
                Form(
                    port: ports.operators, path: "/admin/v1/tenants/demo/cpix", fields: admin, opening: bomb,
                    pieces: tags),
                Form(
                    port: ports.operators, path: "/admin/v1/tenants/demo/decisions/honest-license/again",
                    fields: admin + json),
                Form(port: ports.operators, path: "/admin/v1/reload", fields: admin),
            ])
    }
}
