using System;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using AOT;
using UnityEngine;

/// The keys of one vendor configuration, for the app's own player with an AVURLAsset. Destroying it closes the keys.
public sealed class LatchkeyKeys : MonoBehaviour
{
    /// JSON: profile, settings, allowedHosts.
    [TextArea] public string configuration;

    /// Gets credentials for a request (JSON) and calls the second argument once, with JSON or null. Called on Unity's main thread.
    public Action<string, Action<string>> Credentials;

    /// Receives an outcome (JSON). Called on Unity's main thread.
    public Action<string> Outcome;

    readonly ConcurrentQueue<Action> waiting = new ConcurrentQueue<Action>();
    IntPtr keys;

    void Start()
    {
        var self = GCHandle.ToIntPtr(GCHandle.Alloc(this));
        keys = latchkey_keys_create(configuration, self, OnCredentials, OnOutcome, OnEnd, out var error);
        if (keys != IntPtr.Zero) return;
        Debug.LogError(Marshal.PtrToStringUTF8(error));
        latchkey_text_free(error);
    }

    /// asset: the player's AVURLAsset, before it loads anything.
    public void Protect(IntPtr asset, string title) => latchkey_keys_protect(keys, asset, title);
    public void Release(IntPtr asset) => latchkey_keys_release(keys, asset);

    void Update() { while (waiting.TryDequeue(out var action)) action(); }

    void OnApplicationPause(bool paused)
    {
        if (paused) latchkey_keys_suspend(keys); else latchkey_keys_resume(keys);
    }

    void OnDestroy()
    {
        latchkey_keys_free(keys);
        keys = IntPtr.Zero;
    }

    delegate void CredentialCall(IntPtr data, ulong number, IntPtr request);
    delegate void OutcomeCall(IntPtr data, IntPtr outcome);
    delegate void EndCall(IntPtr data);

    static LatchkeyKeys At(IntPtr data) => (LatchkeyKeys)GCHandle.FromIntPtr(data).Target;

    [MonoPInvokeCallback(typeof(CredentialCall))]
    static void OnCredentials(IntPtr data, ulong number, IntPtr request)
    {
        var (host, text) = (At(data), Marshal.PtrToStringUTF8(request));
        host.waiting.Enqueue(() => host.Credentials(text, answer =>
        {
            if (answer != null) latchkey_answer(number, answer); else latchkey_refuse(number, null);
        }));
    }

    [MonoPInvokeCallback(typeof(OutcomeCall))]
    static void OnOutcome(IntPtr data, IntPtr outcome)
    {
        var (host, text) = (At(data), Marshal.PtrToStringUTF8(outcome));
        host.waiting.Enqueue(() => host.Outcome?.Invoke(text));
    }

    [MonoPInvokeCallback(typeof(EndCall))]
    static void OnEnd(IntPtr data) => GCHandle.FromIntPtr(data).Free();

    [DllImport("__Internal")] static extern IntPtr latchkey_keys_create(
        [MarshalAs(UnmanagedType.LPUTF8Str)] string configuration, IntPtr user_data, CredentialCall on_credentials, OutcomeCall on_outcome, EndCall on_end,
        out IntPtr error);
    [DllImport("__Internal")] static extern void latchkey_keys_free(IntPtr keys);
    [DllImport("__Internal")] static extern void latchkey_keys_protect(IntPtr keys, IntPtr asset, [MarshalAs(UnmanagedType.LPUTF8Str)] string title);
    [DllImport("__Internal")] static extern void latchkey_keys_release(IntPtr keys, IntPtr asset);
    [DllImport("__Internal")] static extern void latchkey_keys_suspend(IntPtr keys);
    [DllImport("__Internal")] static extern void latchkey_keys_resume(IntPtr keys);
    [DllImport("__Internal")] static extern int latchkey_answer(ulong number, [MarshalAs(UnmanagedType.LPUTF8Str)] string credentials);
    [DllImport("__Internal")] static extern int latchkey_refuse(ulong number, [MarshalAs(UnmanagedType.LPUTF8Str)] string reason);
    [DllImport("__Internal")] static extern void latchkey_text_free(IntPtr text);
}
