using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text.Json;
using AVFoundation;

/// <summary>The keys of one vendor configuration. Dispose it after playback.</summary>
public sealed unsafe class LatchkeyKeys : IDisposable
{
    readonly Func<JsonElement, Task<Dictionary<string, string>>> credentials;
    readonly Action<JsonElement> outcome;
    IntPtr keys;

    /// <param name="configuration">JSON: profile, settings, allowedHosts.</param>
    /// <param name="credentials">Gets credentials for a request. Starts on a Latchkey thread.</param>
    /// <param name="outcome">Receives an outcome, on a Latchkey thread.</param>
    public LatchkeyKeys(string configuration, Func<JsonElement, Task<Dictionary<string, string>>> credentials, Action<JsonElement> outcome)
    {
        this.credentials = credentials;
        this.outcome = outcome;
        keys = latchkey_keys_create(configuration, GCHandle.ToIntPtr(GCHandle.Alloc(this)), &OnCredentials, &OnOutcome, &OnEnd, out var error);
        if (keys != IntPtr.Zero) return;
        var reason = Marshal.PtrToStringUTF8(error);
        latchkey_text_free(error);
        throw new ArgumentException(reason);
    }

    public void Protect(AVUrlAsset asset, string? title) => latchkey_keys_protect(keys, asset.Handle, title);
    public void Release(AVUrlAsset asset) => latchkey_keys_release(keys, asset.Handle);
    public void Suspend() => latchkey_keys_suspend(keys);
    public void Resume() => latchkey_keys_resume(keys);

    public void Dispose()
    {
        latchkey_keys_free(Interlocked.Exchange(ref keys, IntPtr.Zero));
    }

    static LatchkeyKeys At(IntPtr data) => (LatchkeyKeys)GCHandle.FromIntPtr(data).Target!;
    static JsonElement Read(IntPtr json) => JsonDocument.Parse(Marshal.PtrToStringUTF8(json)!).RootElement;

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
    static void OnCredentials(IntPtr data, ulong number, IntPtr request) => _ = At(data).Answer(number, Read(request));

    async Task Answer(ulong number, JsonElement request)
    {
        try { latchkey_answer(number, JsonSerializer.Serialize(await credentials(request))); }
        catch (Exception error) { latchkey_refuse(number, error.Message); }
    }

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
    static void OnOutcome(IntPtr data, IntPtr outcome) => At(data).outcome(Read(outcome));

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
    static void OnEnd(IntPtr data) => GCHandle.FromIntPtr(data).Free();

    [DllImport("__Internal")] static extern IntPtr latchkey_keys_create(
        [MarshalAs(UnmanagedType.LPUTF8Str)] string configuration, IntPtr user_data, delegate* unmanaged[Cdecl]<IntPtr, ulong, IntPtr, void> on_credentials,
        delegate* unmanaged[Cdecl]<IntPtr, IntPtr, void> on_outcome, delegate* unmanaged[Cdecl]<IntPtr, void> on_end, out IntPtr error);
    [DllImport("__Internal")] static extern void latchkey_keys_free(IntPtr keys);
    [DllImport("__Internal")] static extern void latchkey_keys_protect(IntPtr keys, IntPtr asset, [MarshalAs(UnmanagedType.LPUTF8Str)] string? title);
    [DllImport("__Internal")] static extern void latchkey_keys_release(IntPtr keys, IntPtr asset);
    [DllImport("__Internal")] static extern void latchkey_keys_suspend(IntPtr keys);
    [DllImport("__Internal")] static extern void latchkey_keys_resume(IntPtr keys);
    [DllImport("__Internal")] static extern int latchkey_answer(ulong number, [MarshalAs(UnmanagedType.LPUTF8Str)] string credentials);
    [DllImport("__Internal")] static extern int latchkey_refuse(ulong number, [MarshalAs(UnmanagedType.LPUTF8Str)] string? reason);
    [DllImport("__Internal")] static extern void latchkey_text_free(IntPtr text);
}
