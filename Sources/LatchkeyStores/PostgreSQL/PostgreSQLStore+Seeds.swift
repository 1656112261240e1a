import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension PostgreSQLStore {
    package func seeds(of tenant: String) async throws(StoreError) -> [SealedKey] {
        try await readers.run(
            PostgreSQLCall(
                "seeds-read",
                "SELECT tenant, version, data_key, nonce, sealed FROM latchkey.seeds WHERE tenant = $1 ORDER BY version",
                [.text(tenant)]), within: settings.keyLimit
        ).rows.map { row throws(StoreError) in try row.seed() }
    }

    package func add(seed: SealedKey) async throws(StoreError) -> Bool {
        let version = try seed.seedVersion(for: engine)
        let answers = try await work.run(
            [
                PostgreSQLCall(
                    "seeds-add",
                    """
                    INSERT INTO latchkey.seeds (tenant, version, data_key, nonce, sealed) VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT DO NOTHING
                    """,
                    [
                        .text(seed.tenant), .version(version), .version(seed.dataKey), .bytes(seed.nonce),
                        .bytes(seed.sealed),
                    ]),
                Self.notice(seed.tenant, nil),
            ], within: settings.keyLimit)
        return answers.first?.count == 1
    }

    package func dataKeys() async throws(StoreError) -> [WrappedDataKey] {
        try await readers.run(
            PostgreSQLCall(
                "data-keys-read",
                "SELECT tenant, version, wrapper, nonce, wrapped FROM latchkey.data_keys ORDER BY tenant, version"),
            within: settings.pageLimit
        ).rows.map { row throws(StoreError) in try row.dataKey() }
    }

    package func put(_ dataKey: WrappedDataKey, replacing wrapper: String?) async throws(StoreError) -> Bool {
        try StoreError.check(dataKey.tenant, "tenant", StoreLimits.tenantBytes, engine)
        let values: [PostgreSQLValue] = [
            .text(dataKey.tenant), .version(dataKey.version), .text(dataKey.wrapper), .bytes(dataKey.nonce),
            .bytes(dataKey.wrapped),
        ]
        let call =
            if let wrapper {
                PostgreSQLCall(
                    "data-keys-replace",
                    """
                    UPDATE latchkey.data_keys SET wrapper = $3, nonce = $4, wrapped = $5
                    WHERE tenant = $1 AND version = $2 AND wrapper = $6
                    """, values + [.text(wrapper)])
            } else {
                PostgreSQLCall(
                    "data-keys-add",
                    """
                    INSERT INTO latchkey.data_keys (tenant, version, wrapper, nonce, wrapped) VALUES ($1, $2, $3, $4, $5)
                    ON CONFLICT DO NOTHING
                    """, values)
            }
        return try await work.run([call, Self.notice(dataKey.tenant, nil)], within: settings.keyLimit).first?.count == 1
    }
}
