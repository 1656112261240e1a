#import <AVFoundation/AVFoundation.h>
#import <Flutter/Flutter.h>
@import LatchkeyBridge;

/// Keys configured by Dart. The plugin that creates the `AVURLAsset` calls `protectAsset:title:` of `keys`.
@interface LatchkeyPlugin : NSObject <FlutterPlugin>
@property (class, nonatomic, readonly, nullable) LatchkeyKeys *keys;
@end

@implementation LatchkeyPlugin {
    FlutterMethodChannel *_channel;
}

static LatchkeyKeys *shared;

+ (LatchkeyKeys *)keys { return shared; }

+ (void)registerWithRegistrar:(NSObject<FlutterPluginRegistrar> *)registrar {
    LatchkeyPlugin *plugin = [[LatchkeyPlugin alloc] init];
    plugin->_channel = [FlutterMethodChannel methodChannelWithName:@"latchkey" binaryMessenger:[registrar messenger]];
    [registrar addMethodCallDelegate:plugin channel:plugin->_channel];
}

- (void)handleMethodCall:(FlutterMethodCall *)call result:(FlutterResult)result {
    if (![call.method isEqualToString:@"configure"]) return result(FlutterMethodNotImplemented);
    NSError *error = nil;
    FlutterMethodChannel *channel = _channel;  // blocks are on the main queue, as channels want it
    [shared close];
    shared = [[LatchkeyKeys alloc] initWithProfile:call.arguments[@"profile"] settings:call.arguments[@"settings"]
        allowedHosts:@[] queue:nil
        credentials:^(LatchkeyCredentialRequest *request, void (^answer)(NSDictionary<NSString *, NSString *> *, NSError *)) {
            [channel invokeMethod:@"credentials" arguments:request.json result:^(id given) {
                answer([given isKindOfClass:[NSDictionary class]] ? given : nil, nil);  // nil: the key fails
            }];
        }
        outcomes:^(LatchkeyOutcome *outcome) { [channel invokeMethod:@"outcome" arguments:outcome.json]; }
        error:&error];
    result(shared ? nil : [FlutterError errorWithCode:error.userInfo[@"LatchkeyCode"] message:error.localizedDescription details:nil]);
}

@end
