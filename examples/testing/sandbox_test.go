// Package sandbox starts the sandbox and calls it with a customer of the test's own.
package sandbox

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

type customer struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

func start(t *testing.T) string {
	command := exec.Command("npx", "bursar", "--port", "0", "--json")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var started struct{ URL string }
	if err := json.Unmarshal(line, &started); err != nil {
		t.Fatal(err)
	}
	return started.URL
}

func call(t *testing.T, request *http.Request, into any) {
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func TestReadsAPage(t *testing.T) {
	sandbox := start(t)
	var own customer
	create, _ := http.NewRequest("POST", sandbox+"/sandbox/customers", strings.NewReader(`{"records":"sample"}`))
	call(t, create, &own)

	var token struct {
		AccessToken string `json:"access_token"`
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	ask, _ := http.NewRequest("POST", sandbox+"/oauth2/token", strings.NewReader(form.Encode()))
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask.SetBasicAuth(own.ClientID, own.ClientSecret)
	call(t, ask, &token)

	var page struct{ Items []struct{ ID string } }
	read, _ := http.NewRequest("GET", sandbox+"/v2/transfer/fiat-accounts?limit=2", nil)
	read.Header.Set("Authorization", "Bearer "+token.AccessToken)
	call(t, read, &page)
	if len(page.Items) != 2 {
		t.Fatalf("%d accounts", len(page.Items))
	}
}
