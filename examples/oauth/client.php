<?php
// Reads a page of accounts. The token is kept until a minute before it expires.

function call(string $path, array $headers, ?string $form = null): array
{
    $http = ['method' => $form === null ? 'GET' : 'POST', 'header' => $headers, 'timeout' => 10];
    if ($form !== null) {
        $http['content'] = $form;
    }
    $answer = file_get_contents(getenv('BURSAR_URL') . $path, false, stream_context_create(['http' => $http]));
    if ($answer === false) {
        throw new RuntimeException("no answer to $path");
    }
    return json_decode($answer, true, 512, JSON_THROW_ON_ERROR);
}

function token(): string
{
    static $held = '', $until = 0;
    if (time() < $until) {
        return $held;
    }
    $basic = base64_encode(getenv('CLIENT_ID') . ':' . getenv('CLIENT_SECRET'));
    $type = 'Content-Type: application/x-www-form-urlencoded';
    $made = call('/oauth2/token', ["Authorization: Basic $basic", $type], 'grant_type=client_credentials');
    $until = time() + $made['expires_in'] - 60;
    return $held = $made['access_token'];
}

$page = call('/v2/transfer/fiat-accounts?limit=2', ['Authorization: Bearer ' . token()]);
echo count($page['items']), " accounts\n";
