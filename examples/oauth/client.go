// Reads a page of accounts. The token is kept until a minute before it expires.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

var base = os.Getenv("BURSAR_URL")

var held struct {
	token string
	until time.Time
}

func call(request *http.Request, into any) {
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		log.Fatal(err)
	}
}

func token() string {
	if time.Now().Before(held.until) {
		return held.token
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	ask, _ := http.NewRequest("POST", base+"/oauth2/token", strings.NewReader(form.Encode()))
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))
	var made struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	call(ask, &made)
	held.token = made.AccessToken
	held.until = time.Now().Add(time.Duration(made.ExpiresIn-60) * time.Second)
	return held.token
}

func main() {
	read, _ := http.NewRequest("GET", base+"/v2/transfer/fiat-accounts?limit=2", nil)
	read.Header.Set("Authorization", "Bearer "+token())
	var page struct{ Items []json.RawMessage }
	call(read, &page)
	fmt.Println(len(page.Items), "accounts")
}
