import 'dart:convert';

import 'package:flutter/services.dart';

/// The keys of one vendor configuration.
class Latchkey {
  static const _channel = MethodChannel('latchkey');

  /// Creates the keys of a vendor. Call it once, before the first player is created.
  static Future<void> configure(
    String profile,
    Map<String, String> settings, {
    required Future<Map<String, String>> Function(Map<String, dynamic> request) credentials,
    required void Function(Map<String, dynamic> outcome) onOutcome,
  }) {
    _channel.setMethodCallHandler((call) async {
      final message = jsonDecode(call.arguments as String) as Map<String, dynamic>;
      if (call.method == 'credentials') return credentials(message); // what it throws fails the key
      onOutcome(message);
    });
    return _channel.invokeMethod<void>('configure', {'profile': profile, 'settings': settings});
  }
}
