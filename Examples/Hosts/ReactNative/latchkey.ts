import { NativeEventEmitter, NativeModules } from "react-native";

const { Latchkey } = NativeModules;
const emitter = new NativeEventEmitter(Latchkey);

export type CredentialRequest = { reason: string; stage: string; purpose?: string; key?: string; title?: string };
export type Outcome = { kind: "failure" | "notice" | "event"; code: string; title?: string; viewerText?: string };

/** Creates the keys of a vendor. Call it once, before the first player is shown. */
export function configure(
  profile: string,
  settings: Record<string, string>,
  credentials: (request: CredentialRequest) => Promise<Record<string, string>>,
  onOutcome: (outcome: Outcome) => void,
): Promise<void> {
  emitter.removeAllListeners("credentials");
  emitter.removeAllListeners("outcome");
  emitter.addListener("outcome", (json: string) => onOutcome(JSON.parse(json)));
  emitter.addListener("credentials", ({ number, request }: { number: number; request: string }) => {
    credentials(JSON.parse(request)).then(
      (given) => Latchkey.answer(number, given),
      () => Latchkey.answer(number, null),
    );
  });
  return Latchkey.configure(profile, settings);
}
