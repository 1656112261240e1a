#if canImport(AVFoundation)
    import AVFoundation
    import Latchkey

    // The functions of `include/latchkey.h`, which documents them for C. `Scripts/check-apple` compares the two.

    /// A host's configuration in JSON.
    private struct Configuration: Decodable {
        let profile: String
        var settings: [String: String]?
        var allowedHosts: [String]?
    }

    /// `latchkey_keys_create`: creates the keys of a vendor.
    @_cdecl("latchkey_keys_create")
    public func latchkeyKeysCreate(
        _ configuration: UnsafePointer<CChar>?, _ userData: UnsafeMutableRawPointer?,
        _ onCredentials: (@convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafePointer<CChar>) -> Void)?,
        _ onOutcome: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> Void)?,
        _ onEnd: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
        _ error: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> UnsafeMutableRawPointer? {
        error?.pointee = nil
        let host = ForeignHost(userData, onOutcome: onOutcome, onEnd: onEnd)
        do throws(ContentKeyError) {
            let stated = try read(Configuration.self, configuration)
            let keys = try HostKeys(
                stated.profile, stated.settings ?? [:], allowedHosts: stated.allowedHosts ?? [], queue: host.queue,
                credentials: onCredentials.map(host.source), outcomes: { host.report($0) })
            return Unmanaged.passRetained(keys).toOpaque()
        } catch let refusal {
            error?.pointee = copy(HostOutcome(KeyFailure(refusal)).json)
            return nil
        }
    }

    /// `latchkey_keys_free`: closes the keys and frees them.
    @_cdecl("latchkey_keys_free")
    public func latchkeyKeysFree(_ keys: UnsafeMutableRawPointer?) {
        guard let keys else { return }
        Unmanaged<HostKeys>.fromOpaque(keys).takeRetainedValue().close()
    }

    /// `latchkey_keys_protect`: provides an `AVURLAsset` with its keys.
    @_cdecl("latchkey_keys_protect")
    public func latchkeyKeysProtect(
        _ keys: UnsafeMutableRawPointer?, _ asset: UnsafeMutableRawPointer?, _ title: UnsafePointer<CChar>?
    ) {
        guard let asset = object(asset, AVURLAsset.self) else { return }
        object(keys, HostKeys.self)?.protectAsset(asset, title: text(title))
    }

    /// `latchkey_keys_release`: releases the keys of an `AVURLAsset`.
    @_cdecl("latchkey_keys_release")
    public func latchkeyKeysRelease(_ keys: UnsafeMutableRawPointer?, _ asset: UnsafeMutableRawPointer?) {
        guard let asset = object(asset, AVURLAsset.self) else { return }
        object(keys, HostKeys.self)?.releaseAsset(asset)
    }

    /// `latchkey_keys_release_all`: releases all keys.
    @_cdecl("latchkey_keys_release_all")
    public func latchkeyKeysReleaseAll(_ keys: UnsafeMutableRawPointer?) { object(keys, HostKeys.self)?.releaseAll() }

    /// `latchkey_keys_preload`: requests a key before an asset does.
    @_cdecl("latchkey_keys_preload")
    public func latchkeyKeysPreload(
        _ keys: UnsafeMutableRawPointer?, _ keyURI: UnsafePointer<CChar>?, _ title: UnsafePointer<CChar>?
    ) -> Int32 {
        guard let keys = object(keys, HostKeys.self), let keyURI = text(keyURI) else { return 0 }
        return keys.preloadKey(keyURI, title: text(title)) ? 1 : 0
    }

    /// `latchkey_keys_suspend`: pauses renewals until `latchkey_keys_resume`.
    @_cdecl("latchkey_keys_suspend")
    public func latchkeyKeysSuspend(_ keys: UnsafeMutableRawPointer?) { object(keys, HostKeys.self)?.suspend() }

    /// `latchkey_keys_resume`: resumes renewals.
    @_cdecl("latchkey_keys_resume")
    public func latchkeyKeysResume(_ keys: UnsafeMutableRawPointer?) { object(keys, HostKeys.self)?.resume() }

    /// `latchkey_keys_renew_ended`: requests the keys whose leases ended.
    @_cdecl("latchkey_keys_renew_ended")
    public func latchkeyKeysRenewEnded(_ keys: UnsafeMutableRawPointer?) -> Int32 {
        Int32(clamping: object(keys, HostKeys.self)?.renewEndedKeys().count ?? 0)
    }

    /// `latchkey_keys_replace_session`: starts over with a new session.
    @_cdecl("latchkey_keys_replace_session")
    public func latchkeyKeysReplaceSession(_ keys: UnsafeMutableRawPointer?) {
        object(keys, HostKeys.self)?.replaceSession()
    }

    /// `latchkey_keys_report_events`: also reports events.
    @_cdecl("latchkey_keys_report_events")
    public func latchkeyKeysReportEvents(_ keys: UnsafeMutableRawPointer?) {
        object(keys, HostKeys.self)?.reportEvents()
    }

    /// `latchkey_answer`: answers a request with credentials.
    @_cdecl("latchkey_answer")
    public func latchkeyAnswer(_ request: UInt64, _ credentials: UnsafePointer<CChar>?) -> Int32 {
        let pending = ForeignAnswers.remove(request)
        do { return pending?.take(try read([String: String].self, credentials), nil) == true ? 1 : 0 } catch {
            return pending?.take(nil, error) == true ? 1 : 0
        }
    }

    /// `latchkey_refuse`: answers a request with an error.
    @_cdecl("latchkey_refuse")
    public func latchkeyRefuse(_ request: UInt64, _ reason: UnsafePointer<CChar>?) -> Int32 {
        let error = ContentKeyError(.credentialsFailed, text(reason) ?? "The host has no credentials.")
        return ForeignAnswers.remove(request)?.take(nil, error) == true ? 1 : 0
    }

    /// `latchkey_text_free`: frees a text.
    @_cdecl("latchkey_text_free")
    public func latchkeyTextFree(_ text: UnsafeMutablePointer<CChar>?) { text?.deallocate() }

    private func object<Object: AnyObject>(_ pointer: UnsafeMutableRawPointer?, _: Object.Type) -> Object? {
        pointer.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

    /// A string that the host frees.
    private func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for (place, byte) in bytes.enumerated() { (copy + place).initialize(to: byte) }
        return copy
    }

    /// Parses a host's JSON.
    private func read<Value: Decodable>(
        _ type: Value.Type, _ json: UnsafePointer<CChar>?
    ) throws(ContentKeyError) -> Value {
        do { return try JSONDecoder().decode(type, from: Data((text(json) ?? "").utf8)) } catch {
            let form = type == Configuration.self ? "profile, settings and allowedHosts" : "texts by name"
            throw ContentKeyError(
                .integrationFailed, "The host's JSON cannot be read.", remedy: "Pass a JSON object of \(form).")
        }
    }
#endif
